#include "controlplane/channel/control_packet.h"

#include <array>
#include <optional>

#include "controlplane/channel/archive.h"

namespace matchrdma {
namespace {

using Kind = ControlVerdict::Kind;

constexpr uint32_t kMacBytes = 12, kIpv4Bytes = 20, kIpv6Bytes = 40, kUdpBytes = 8;
constexpr uint8_t kProtoUdp = 17;
constexpr uint8_t kClassCs6 = 48 << 2;       // RFC 2474 4.2.2: network control
constexpr uint16_t kPriorityTop = 7u << 13;  // IEEE 802.1Q: PCP 7
constexpr uint16_t kVlanIdMask = 0xfff, kDontFragment = 0x4000;
constexpr uint16_t kEtherIpv4 = 0x0800, kEtherIpv6 = 0x86dd;

bool is_v4(const ControlPath& p) {
  MRDMA_CHECK(p.net.src.is_v4() == p.net.dst.is_v4());
  return p.net.src.is_v4();
}
uint32_t l3_offset(const ControlPath& p) {
  MRDMA_CHECK(p.net.vlan_tags >= 0 && p.net.vlan_tags <= 2);
  return kMacBytes + 2 + 4 * static_cast<uint32_t>(p.net.vlan_tags);
}
/// The address as its IP version writes it.
Bytes address(const IpAddress& a, bool v4) { return Bytes(a.b).subspan(v4 ? 12 : 0); }

/// RFC 1071, over more than one piece; pieces before the last are of even length.
uint32_t sum16(uint32_t sum, Bytes b) {
  for (; b.size() >= 2; b = b.subspan(2)) sum += load_be16(b.data());
  return b.empty() ? sum : sum + (uint32_t{b[0]} << 8);
}
uint16_t checksum(uint32_t sum) {
  while ((sum >> 16) != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

void write_ethernet(const ControlPath& p, Encoder& e) {
  e.bytes(p.net.mac_dst);
  e.bytes(p.net.mac_src);
  for (size_t i = 0; i < static_cast<size_t>(p.net.vlan_tags); ++i) {
    e.u16(p.net.vlan_tpid[i]);
    e.u16(static_cast<uint16_t>((p.net.vlan_tci[i] & kVlanIdMask) | kPriorityTop));
  }
  e.u16(is_v4(p) ? kEtherIpv4 : kEtherIpv6);
}

void write_ip(const ControlPath& p, uint32_t udp_size, Encoder& e) {
  const bool v4 = is_v4(p);
  if (v4) {
    e.u16(0x4500 | kClassCs6);
    e.u16(static_cast<uint16_t>(kIpv4Bytes + udp_size));
    e.u16(0);
    e.u16(kDontFragment);
    e.u8(p.net.hop_limit);
    e.u8(kProtoUdp);
    e.u16(0);  // checksum: when the header stands
  } else {
    e.u32((6u << 28) | (uint32_t{kClassCs6} << 20) | (p.net.flow_label & 0xfffff));
    e.u16(static_cast<uint16_t>(udp_size));
    e.u8(kProtoUdp);
    e.u8(p.net.hop_limit);
  }
  for (const IpAddress* a : {&p.net.src, &p.net.dst}) e.raw(address(*a, v4).data(), v4 ? 4 : 16);
}

/// RFC 768; RFC 8200 8.1: IPv6 must have it, so a computed 0 is sent as ones.
void write_udp_checksum(const ControlPath& p, MutableBytes udp) {
  uint32_t sum = kProtoUdp + static_cast<uint32_t>(udp.size());
  for (const IpAddress* a : {&p.net.src, &p.net.dst}) sum = sum16(sum, address(*a, is_v4(p)));
  const uint16_t c = checksum(sum16(sum, udp));
  store_be16(udp.data() + 6, c == 0 ? uint16_t{0xffff} : c);
}

/// Where the IP header begins if the tags are those of the path (H16: the same address in another VLAN is
/// somebody else's); the EtherType in `type`.
std::optional<uint32_t> find_l3(const ControlPath& p, Bytes frame, uint16_t& type) {
  const uint32_t l3 = l3_offset(p);
  if (frame.size() < l3) return {};
  for (uint32_t i = 0; i < static_cast<uint32_t>(p.net.vlan_tags); ++i) {
    const uint8_t* tag = frame.data() + kMacBytes + 4 * i;
    if (load_be16(tag) != p.net.vlan_tpid[i]) return {};
    if ((load_be16(tag + 2) & kVlanIdMask) != (p.net.vlan_tci[i] & kVlanIdMask)) return {};
  }
  type = load_be16(frame.data() + l3 - 2);
  return l3;
}

/// The UDP header and payload of an IP packet to our address, and whether the peer sent it.
struct UdpPart {
  Kind kind = Kind::kForeign;
  Bytes udp{};  ///< kOurs: as long as the IP header says; kBroken: what there is
};
UdpPart sort_by_address(const ControlPath& p, Bytes ip, size_t at, Bytes udp, bool sound) {
  const size_t n = is_v4(p) ? 4 : 16;
  const auto equal = [&](size_t offset, const IpAddress& a) {
    return std::memcmp(ip.data() + offset, address(a, is_v4(p)).data(), n) == 0;
  };
  if (!equal(at + n, p.net.src)) return {};
  return {sound && equal(at, p.net.dst) ? Kind::kOurs : Kind::kBroken, udp};
}

UdpPart ipv4(const ControlPath& p, Bytes ip) {
  if (ip.size() < kIpv4Bytes || (ip[0] >> 4) != 4 || ip[9] != kProtoUdp) return {};
  const size_t header = (ip[0] & 0xfu) * 4, total = load_be16(ip.data() + 2);
  // Our datagrams are never fragmented; a later fragment shows no port and is foreign.
  const uint16_t fragment = load_be16(ip.data() + 6) & 0x3fff;
  if (header < kIpv4Bytes || header > ip.size() || (fragment & 0x1fff) != 0) return {};
  const bool sound = fragment == 0 && total >= header && total <= ip.size();
  return sort_by_address(p, ip, 12, sound ? ip.subspan(header, total - header) : ip.subspan(header), sound);
}

UdpPart ipv6(const ControlPath& p, Bytes ip) {
  if (ip.size() < kIpv6Bytes || (ip[0] >> 4) != 6 || ip[6] != kProtoUdp) return {};
  const size_t length = load_be16(ip.data() + 4);
  const bool sound = length <= ip.size() - kIpv6Bytes;
  return sort_by_address(p, ip, 8, ip.subspan(kIpv6Bytes, sound ? length : ip.size() - kIpv6Bytes), sound);
}

}  // namespace

uint32_t control_packet_size(const ControlPath& path, size_t payload) {
  return l3_offset(path) + (is_v4(path) ? kIpv4Bytes : kIpv6Bytes) + kUdpBytes + static_cast<uint32_t>(payload);
}

void build_control_packet(const ControlPath& path, Bytes payload, MutableBytes out) {
  MRDMA_CHECK(out.size() == control_packet_size(path, payload.size()));
  const uint32_t udp_size = kUdpBytes + static_cast<uint32_t>(payload.size());
  MRDMA_CHECK(udp_size + kIpv4Bytes <= 0xffff);
  Encoder e(out);
  write_ethernet(path, e);
  write_ip(path, udp_size, e);
  e.u16(path.net.udp_source_port);
  e.u16(path.port);
  e.u16(static_cast<uint16_t>(udp_size));
  e.u16(0);
  e.raw(payload.data(), payload.size());
  MRDMA_CHECK(e.ok() && e.size() == out.size());
  if (is_v4(path)) {
    const MutableBytes ip = out.subspan(l3_offset(path), kIpv4Bytes);
    store_be16(ip.data() + 10, checksum(sum16(0, ip)));
  }
  write_udp_checksum(path, out.last(udp_size));
}

PacketRef build_control_packet(const ControlPath& path, Bytes payload, PacketPool& pool) {
  const uint32_t size = control_packet_size(path, payload.size());
  PacketRef packet = pool.alloc(size);
  if (packet) build_control_packet(path, payload, MutableBytes{packet->data, size});
  return packet;
}

ControlVerdict recognise_control(const ControlPath& path, Bytes frame) {
  uint16_t type = 0;
  const std::optional<uint32_t> l3 = find_l3(path, frame, type);
  if (!l3 || type != (is_v4(path) ? kEtherIpv4 : kEtherIpv6)) return {};
  const UdpPart part = is_v4(path) ? ipv4(path, frame.subspan(*l3)) : ipv6(path, frame.subspan(*l3));
  if (part.kind == Kind::kForeign) return {};
  if (part.udp.size() < 4) return {Kind::kBroken, {}};
  if (load_be16(part.udp.data() + 2) != path.port) return {};
  if (part.kind == Kind::kBroken || part.udp.size() < kUdpBytes) return {Kind::kBroken, {}};
  if (load_be16(part.udp.data() + 4) != part.udp.size()) return {Kind::kBroken, {}};
  return {Kind::kOurs, part.udp.subspan(kUdpBytes)};
}

}  // namespace matchrdma
