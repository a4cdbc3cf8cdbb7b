#include "controlplane/channel/neighbour_message.h"

#include <cstring>

#include "dataplane/wire/udp_frame.h"
#include "dataplane/wire/writer.h"

namespace matchrdma {
namespace {

using Kind = NeighbourMessage::Kind;

constexpr size_t kMacBytes = 6, kTagBytes = 4, kLeastFrame = 60;
constexpr uint16_t kEtherVlan = 0x8100, kEtherArp = 0x0806, kEtherIpv4 = 0x0800, kEtherIpv6 = 0x86dd;
constexpr uint16_t kPriorityTop = 7u << 13;  // as the subchannel's datagrams (PROTOCOL 6)
constexpr Mac kBroadcast{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

constexpr size_t kArpBytes = 28;
constexpr uint16_t kArpEthernet = 1, kArpRequest = 1, kArpReply = 2;

constexpr size_t kIpv6Bytes = 40, kNdBytes = 24, kOptionBytes = 8;
constexpr uint8_t kProtoIcmpv6 = 58, kOnLink = 255;
constexpr uint8_t kSolicitation = 135, kAdvertisement = 136;
constexpr uint8_t kSourceLinkAddress = 1, kTargetLinkAddress = 2;
constexpr uint32_t kSolicited = 1u << 30, kOverride = 1u << 29;
constexpr IpAddress kAllNodes{{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

Mac mac_at(const uint8_t* p) {
  Mac m;
  std::memcpy(m.data(), p, kMacBytes);
  return m;
}
/// The MAC of one station: neither of a group nor zero.
bool is_station(const Mac& m) { return (m[0] & 1) == 0 && m != Mac{}; }
bool is_multicast(const IpAddress& a) { return a.b[0] == 0xff; }

/// RFC 4291 2.7.1
IpAddress solicited_node(const IpAddress& a) {
  IpAddress s{{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff}};
  std::memcpy(s.b.data() + 13, a.b.data() + 13, 3);
  return s;
}
/// RFC 2464 7
Mac mac_of_group(const IpAddress& group) {
  return {0x33, 0x33, group.b[12], group.b[13], group.b[14], group.b[15]};
}

/// Over the pseudo header too (RFC 4443 2.3); over a message with a right checksum it is 0.
uint16_t icmp_checksum(const uint8_t* ip, Bytes icmp) {
  uint32_t sum = kProtoIcmpv6 + static_cast<uint32_t>(icmp.size());
  sum = sum16(sum, ip + 8, 32);
  sum = sum16(sum, icmp.data(), icmp.size());
  return static_cast<uint16_t>(~fold_checksum(sum));
}

std::optional<NeighbourMessage> parse_arp(Bytes arp) {
  if (arp.size() < kArpBytes) return {};
  const uint8_t* p = arp.data();
  const bool ours = load_be16(p) == kArpEthernet && load_be16(p + 2) == kEtherIpv4 && p[4] == 6 && p[5] == 4;
  const uint16_t operation = load_be16(p + 6);
  if (!ours || (operation != kArpRequest && operation != kArpReply)) return {};
  const IpAddress sender = IpAddress::v4(p + 14), target = IpAddress::v4(p + 24);
  NeighbourMessage m;
  m.mac = mac_at(p + 8);
  m.sound = is_station(*m.mac);
  if (operation == kArpRequest && sender != target) {
    m.about = target;
    m.from = sender;
    return m;
  }
  // A request for one's own address is an announcement (RFC 5227 3).
  m.kind = Kind::kTell;
  m.about = sender;
  m.to = target;
  m.to_all = sender == target;
  return m;
}

/// Finds the link-layer address option of `type`; false where the options are broken (RFC 4861 7.1).
bool read_options(Bytes options, uint8_t type, std::optional<Mac>& mac) {
  while (!options.empty()) {
    const size_t size = options.size() < 2 ? 0 : options[1] * kOptionBytes;
    if (size == 0 || size > options.size()) return false;
    if (options[0] == type && size == kOptionBytes) mac = mac_at(options.data() + 2);
    options = options.subspan(size);
  }
  return !mac || is_station(*mac);
}

/// Receipt checks of RFC 4861 7.1.1 and 7.1.2 that both messages share.
bool sound_icmp(Bytes ip, size_t length) {
  const Bytes icmp = ip.subspan(kIpv6Bytes);
  if (length < kNdBytes || length > icmp.size()) return false;
  return ip[7] == kOnLink && icmp[1] == 0 && icmp_checksum(ip.data(), icmp.first(length)) == 0;
}

std::optional<NeighbourMessage> parse_nd(Bytes ip) {
  if (ip.size() < kIpv6Bytes + kNdBytes || (ip[0] >> 4) != 6 || ip[6] != kProtoIcmpv6) return {};
  const uint8_t* icmp = ip.data() + kIpv6Bytes;
  if (icmp[0] != kSolicitation && icmp[0] != kAdvertisement) return {};
  const size_t length = load_be16(ip.data() + 4);
  const IpAddress source = IpAddress::v6(ip.data() + 8), destination = IpAddress::v6(ip.data() + 24);
  NeighbourMessage m;
  m.about = IpAddress::v6(icmp + 8);
  m.sound = sound_icmp(ip, length) && !is_multicast(m.about);
  const bool asks = icmp[0] == kSolicitation;
  if (m.sound) {
    const Bytes options = ip.subspan(kIpv6Bytes + kNdBytes, length - kNdBytes);
    m.sound = read_options(options, asks ? kSourceLinkAddress : kTargetLinkAddress, m.mac);
  }
  if (asks) {
    m.from = source;
    const bool nameless_is_sound = !m.mac && destination == solicited_node(m.about);
    m.sound = m.sound && !is_multicast(source) && (!is_unspecified(source) || nameless_is_sound);
    return m;
  }
  m.kind = Kind::kTell;
  m.to = destination;
  m.to_all = is_multicast(destination);
  const uint32_t flags = load_be32(icmp + 4);
  m.overrides = (flags & kOverride) != 0;
  m.sound = m.sound && !(m.to_all && (flags & kSolicited) != 0);
  return m;
}

Writer begin_frame(const NeighbourSelf& self, const Mac& to, uint16_t type, NeighbourFrame& out) {
  out.b = {};
  Writer w(out.b);
  w.bytes(to.data(), kMacBytes);
  w.bytes(self.mac.data(), kMacBytes);
  if (self.vlan) {
    w.u16(kEtherVlan);
    w.u16(kPriorityTop | *self.vlan);
  }
  w.u16(type);
  return w;
}

void end_frame(const Writer& w, NeighbourFrame& out) {
  const size_t size = out.b.size() - w.left();
  out.size = static_cast<uint32_t>(size < kLeastFrame ? kLeastFrame : size);
}

struct Arp {
  uint16_t operation = kArpRequest;
  Mac link{};    ///< Ethernet destination
  Mac target{};  ///< zero where it is wanted
  IpAddress about;
};
void build_arp(const NeighbourSelf& self, const Arp& arp, NeighbourFrame& out) {
  Writer w = begin_frame(self, arp.link, kEtherArp, out);
  w.u16(kArpEthernet);
  w.u16(kEtherIpv4);
  w.u8(kMacBytes);
  w.u8(4);
  w.u16(arp.operation);
  w.bytes(self.mac.data(), kMacBytes);
  w.bytes(self.address.b.data() + 12, 4);
  w.bytes(arp.target.data(), kMacBytes);
  w.bytes(arp.about.b.data() + 12, 4);
  end_frame(w, out);
}

struct Nd {
  uint8_t type = kSolicitation;
  uint32_t flags = 0;
  Mac link{};
  IpAddress to, about;
};
void build_nd(const NeighbourSelf& self, const Nd& nd, NeighbourFrame& out) {
  Writer w = begin_frame(self, nd.link, kEtherIpv6, out);
  const size_t ip = out.b.size() - w.left();
  w.u32(6u << 28);
  w.u16(kNdBytes + kOptionBytes);
  w.u8(kProtoIcmpv6);
  w.u8(kOnLink);
  w.bytes(self.address.b.data(), 16);
  w.bytes(nd.to.b.data(), 16);
  w.u8(nd.type);
  w.zeros(3);  // code; the checksum when all stands
  w.u32(nd.flags);
  w.bytes(nd.about.b.data(), 16);
  w.u8(nd.type == kSolicitation ? kSourceLinkAddress : kTargetLinkAddress);
  w.u8(1);
  w.bytes(self.mac.data(), kMacBytes);
  uint8_t* icmp = out.b.data() + ip + kIpv6Bytes;
  store_be16(icmp + 2, icmp_checksum(out.b.data() + ip, {icmp, kNdBytes + kOptionBytes}));
  end_frame(w, out);
}

}  // namespace

bool is_unspecified(const IpAddress& a) {
  static constexpr uint8_t kZeros[16] = {};
  return std::memcmp(a.b.data() + (a.is_v4() ? 12 : 0), kZeros, a.is_v4() ? 4 : 16) == 0;
}

std::optional<NeighbourMessage> parse_neighbour(const NeighbourSelf& self, Bytes frame) {
  const size_t type_at = 2 * kMacBytes + (self.vlan ? kTagBytes : 0);
  if (frame.size() < type_at + 2) return {};
  const uint8_t* p = frame.data();
  if (self.vlan && (load_be16(p + 12) != kEtherVlan || (load_be16(p + 14) & 0xfff) != *self.vlan)) return {};
  const bool v4 = self.address.is_v4();
  if (load_be16(p + type_at) != (v4 ? kEtherArp : kEtherIpv6)) return {};
  const Bytes rest = frame.subspan(type_at + 2);
  std::optional<NeighbourMessage> m = v4 ? parse_arp(rest) : parse_nd(rest);
  if (m) m->link_source = mac_at(p + kMacBytes);
  if (m && !is_station(m->link_source)) m->sound = false;
  return m;
}

void build_ask(const NeighbourSelf& self, const IpAddress& wanted, const std::optional<Mac>& mac,
               NeighbourFrame& out) {
  if (self.address.is_v4()) return build_arp(self, {kArpRequest, mac.value_or(kBroadcast), {}, wanted}, out);
  const IpAddress group = solicited_node(wanted);
  build_nd(self, {kSolicitation, 0, mac.value_or(mac_of_group(group)), mac ? wanted : group, wanted}, out);
}

void build_tell(const NeighbourSelf& self, const NeighbourMessage& question, NeighbourFrame& out) {
  const Mac asker = question.mac.value_or(question.link_source);
  if (self.address.is_v4()) return build_arp(self, {kArpReply, asker, asker, question.from}, out);
  // Who has no address yet cannot be written to (RFC 4861 7.2.4).
  if (is_unspecified(question.from)) return build_announcement(self, out);
  build_nd(self, {kAdvertisement, kSolicited | kOverride, asker, question.from, self.address}, out);
}

void build_announcement(const NeighbourSelf& self, NeighbourFrame& out) {
  if (self.address.is_v4()) return build_arp(self, {kArpRequest, kBroadcast, {}, self.address}, out);
  build_nd(self, {kAdvertisement, kOverride, mac_of_group(kAllNodes), kAllNodes, self.address}, out);
}

}  // namespace matchrdma
