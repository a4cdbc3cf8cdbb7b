#include "controlplane/channel/control_packet.h"

#include <cstring>
#include <optional>

namespace matchrdma {
namespace {

using Kind = ControlVerdict::Kind;

constexpr uint32_t kMacBytes = 12, kIpv4Bytes = 20, kIpv6Bytes = 40;
constexpr uint8_t kProtoUdp = 17;
constexpr uint8_t kClassCs6 = 48 << 2;       // RFC 2474 4.2.2: network control
constexpr uint16_t kPriorityTop = 7u << 13;  // IEEE 802.1Q: PCP 7
constexpr uint16_t kVlanIdMask = 0xfff;
constexpr uint16_t kEtherIpv4 = 0x0800, kEtherIpv6 = 0x86dd;

/// The address as its IP version writes it.
Bytes address(const IpAddress& a, bool v4) { return Bytes(a.b).subspan(v4 ? 12 : 0); }

/// What our own datagrams wear: CS6 and PCP 7, so that no queue on the way holds them back.
L2L3 headers(const ControlPath& p) {
  L2L3 l = p.net;
  l.traffic_class = kClassCs6;
  for (uint16_t& tci : l.vlan_tci) tci = static_cast<uint16_t>((tci & kVlanIdMask) | kPriorityTop);
  return l;
}

/// Where the IP header begins if the tags are those of the path (H16: the same address in another VLAN is
/// somebody else's); the EtherType in `type`.
std::optional<uint32_t> find_l3(const ControlPath& p, Bytes frame, uint16_t& type) {
  const uint32_t l3 = l3_offset(p.net);
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
  const size_t n = is_v4(p.net) ? 4 : 16;
  const auto equal = [&](size_t offset, const IpAddress& a) {
    return std::memcmp(ip.data() + offset, address(a, is_v4(p.net)).data(), n) == 0;
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
  return udp_payload_offset(path.net) + static_cast<uint32_t>(payload);
}

void build_control_packet(const ControlPath& path, Bytes payload, MutableBytes out) {
  MRDMA_CHECK(out.size() == control_packet_size(path, payload.size()));
  const L2L3 l = headers(path);
  write_udp_headers(l, path.port, out);
  if (!payload.empty()) std::memcpy(out.data() + udp_payload_offset(l), payload.data(), payload.size());
  write_udp_checksum(l, out);
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
  if (!l3 || type != (is_v4(path.net) ? kEtherIpv4 : kEtherIpv6)) return {};
  const UdpPart part = is_v4(path.net) ? ipv4(path, frame.subspan(*l3)) : ipv6(path, frame.subspan(*l3));
  if (part.kind == Kind::kForeign) return {};
  if (part.udp.size() < 4) return {Kind::kBroken, {}};
  if (load_be16(part.udp.data() + 2) != path.port) return {};
  if (part.kind == Kind::kBroken || part.udp.size() < kUdpBytes) return {Kind::kBroken, {}};
  if (load_be16(part.udp.data() + 4) != part.udp.size()) return {Kind::kBroken, {}};
  return {Kind::kOurs, part.udp.subspan(kUdpBytes)};
}

}  // namespace matchrdma
