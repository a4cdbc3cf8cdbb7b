#include "dataplane/wire/frame.h"

namespace matchrdma {
namespace {

constexpr uint16_t kEtherIpv4 = 0x0800, kEtherIpv6 = 0x86dd;
constexpr uint8_t kProtoHopByHop = 0, kProtoUdp = 17, kProtoRouting = 43, kProtoFragment = 44,
                  kProtoDestination = 60;
constexpr uint32_t kMacBytes = 12, kIpv6Bytes = 40, kUdpBytes = 8, kBthBytes = 12, kIcrcBytes = 4;
constexpr int kMaxVlanTags = 2;

/// 802.1Q, 802.1ad, and the value that older switches use for the outer tag.
constexpr bool is_vlan_tpid(uint16_t type) { return type == 0x8100 || type == 0x88a8 || type == 0x9100; }

/// Where the walk through the headers ended.
struct Verdict {
  ParseKind kind = ParseKind::kRoce;
  Reason reason = Reason::kNone;
  bool go_on() const { return kind == ParseKind::kRoce; }
};
constexpr Verdict kGoOn{};
constexpr Verdict foreign(Reason r) { return {ParseKind::kNotRoce, r}; }
constexpr Verdict malformed(Reason r) { return {ParseKind::kMalformed, r}; }

}  // namespace

/// One walk from the outside in. Every load is preceded by has(). A packet that can be told to be foreign is
/// foreign even when it is cut or its lengths are odd: what is not ours is not ours to judge.
struct FrameParser {
  FrameParser(Bytes bytes, Frame& frame) : f(frame), size(static_cast<uint32_t>(bytes.size())) {
    f.p_ = bytes.data();
    f.size_ = size;
  }

  Verdict run() {
    Verdict v = ethernet();
    if (!v.go_on()) return v;
    v = f.v4_ ? ipv4() : ipv6();
    if (!v.go_on()) return v;
    v = udp();
    if (!v.go_on()) return v;
    return bth();
  }

  bool has(uint32_t offset, uint32_t n) const { return offset <= size && n <= size - offset; }

  Verdict ethernet() {
    uint32_t at = kMacBytes;
    if (!has(at, 2)) return malformed(Reason::kTruncated);
    uint16_t type = load_be16(f.p_ + at);
    for (; is_vlan_tpid(type); type = load_be16(f.p_ + at)) {
      if (f.vlan_tags_ == kMaxVlanTags) return foreign(Reason::kTooManyVlanTags);
      ++f.vlan_tags_;
      at += 4;
      if (!has(at, 2)) return malformed(Reason::kTruncated);
    }
    if (type != kEtherIpv4 && type != kEtherIpv6) return foreign(Reason::kNotIp);
    f.v4_ = type == kEtherIpv4;
    f.l3_ = static_cast<uint16_t>(at + 2);
    return kGoOn;
  }

  /// RFC 791 3.1.
  Verdict ipv4() {
    const uint32_t l3 = f.l3_;
    if (!has(l3, 20)) return malformed(Reason::kTruncated);
    const uint8_t* ip = f.p_ + l3;
    const uint32_t header = (ip[0] & 0xfu) * 4;
    if ((ip[0] >> 4) != 4 || header < 20) return malformed(Reason::kIpHeader);
    if (ip[9] != kProtoUdp) return foreign(Reason::kNotUdp);
    if ((load_be16(ip + 6) & 0x3fff) != 0) return foreign(Reason::kFragment);  // MF or an offset
    const uint32_t total = load_be16(ip + 2);
    if (total < header + kUdpBytes) return malformed(Reason::kIpLength);
    f.udp_ = static_cast<uint16_t>(l3 + header);
    end = l3 + total;
    return kGoOn;
  }

  /// RFC 8200 3 and 4. A payload length of 0 (jumbogram, RFC 2675) cannot hold a RoCE packet.
  Verdict ipv6() {
    const uint32_t l3 = f.l3_;
    if (!has(l3, kIpv6Bytes)) return malformed(Reason::kTruncated);
    const uint8_t* ip = f.p_ + l3;
    if ((ip[0] >> 4) != 6) return malformed(Reason::kIpHeader);
    end = l3 + kIpv6Bytes + load_be16(ip + 4);
    uint32_t at = l3 + kIpv6Bytes;
    const Verdict v = ipv6_extensions(ip[6], at);
    if (!v.go_on()) return v;
    // ::ffff:0:0/96 never stands in an IPv6 header (RFC 6890 table 20). Were it let in, such a packet would
    // share its flow key with an IPv4 flow.
    if (f.source().is_v4() || f.destination().is_v4()) return malformed(Reason::kIpHeader);
    if (at + kUdpBytes > end) return malformed(Reason::kIpLength);
    f.udp_ = static_cast<uint16_t>(at);
    return kGoOn;
  }

  /// Moves `at` behind the extension headers, to UDP.
  Verdict ipv6_extensions(uint8_t next, uint32_t& at) const {
    const uint32_t limit = at + kMaxIpv6ExtBytes;
    while (next != kProtoUdp) {
      const bool fragment = next == kProtoFragment;
      if (!fragment && next != kProtoHopByHop && next != kProtoRouting && next != kProtoDestination) {
        return foreign(Reason::kNotUdp);
      }
      if (at + 8 > end) return malformed(Reason::kIpLength);
      if (!has(at, 8)) return malformed(Reason::kTruncated);
      // Offset or M set. An atomic fragment (RFC 6946) is a whole packet and goes on.
      if (fragment && (load_be16(f.p_ + at + 2) & 0xfff9) != 0) return foreign(Reason::kFragment);
      next = f.p_[at];
      at += fragment ? 8u : (f.p_[at + 1] + 1u) * 8;
      if (at > limit) return malformed(Reason::kIpHeader);
    }
    return kGoOn;
  }

  Verdict udp() {
    if (!has(f.udp_, kUdpBytes)) return malformed(Reason::kTruncated);
    if (load_be16(f.p_ + f.udp_ + 2) != kRoceUdpPort) return foreign(Reason::kNotRocePort);
    if (load_be16(f.p_ + f.udp_ + 4) != end - f.udp_) return malformed(Reason::kUdpLength);
    if (end - f.udp_ < kUdpBytes + kBthBytes + kIcrcBytes) return malformed(Reason::kShortBth);
    if (end > size) return malformed(Reason::kTruncated);
    return kGoOn;
  }

  /// IBA 9.2. What lies behind `end` is Ethernet padding and belongs to nothing.
  Verdict bth() {
    const uint32_t at = f.udp_ + kUdpBytes;
    const uint8_t* b = f.p_ + at;
    f.bth_ = static_cast<uint16_t>(at);
    f.icrc_ = end - kIcrcBytes;
    f.opcode_ = b[0];
    f.dest_qp_ = load_be32(b + 4) & 0xffffff;
    const uint32_t ack_req_and_psn = load_be32(b + 8);
    f.ack_req_ = ack_req_and_psn >> 31 != 0;
    f.psn_ = ack_req_and_psn & Psn::kMask;
    Verdict v;
    v.reason = foreign_bth(b[1] & 0xf);
    f.info_ = v.reason == Reason::kNone ? &opcode_info(f.opcode_) : &kOpaqueOpcode;
    const uint32_t payload = at + kBthBytes + f.info_->ext_len;
    if (payload > f.icrc_) return malformed(Reason::kShortBth);
    f.payload_ = static_cast<uint16_t>(payload);
    if (f.pad_count() > f.icrc_ - payload) return malformed(Reason::kPadCount);
    return v;
  }

  /// Why a sound BTH is none we act on.
  Reason foreign_bth(uint8_t transport_version) const {
    const OpcodeInfo& o = opcode_info(f.opcode_);
    if (transport_version != 0) return Reason::kTransportVersion;
    if (o.known) return Reason::kNone;
    const bool ours = o.transport == Transport::kRc || o.transport == Transport::kUc ||
                      o.transport == Transport::kUd || o.transport == Transport::kCnp;
    return ours ? Reason::kUnknownOpcode : Reason::kUnknownTransport;
  }

  Frame& f;
  const uint32_t size;
  uint32_t end = 0;  ///< where the IP packet ends, by its own length field
};

ParseResult parse_frame(Bytes bytes) {
  ParseResult r;
  FrameParser parser(bytes, r.frame);
  const Verdict v = parser.run();
  r.kind = v.kind;
  r.reason = v.reason;
  if (v.kind != ParseKind::kRoce) [[unlikely]]
    r.frame = Frame{};
  return r;
}

uint16_t ether_type(Bytes bytes) {
  for (size_t at = kMacBytes; bytes.size() >= at + 2; at += 4) {
    const uint16_t type = load_be16(bytes.data() + at);
    if (!is_vlan_tpid(type)) return type;
  }
  return 0;
}

}  // namespace matchrdma
