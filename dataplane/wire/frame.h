#pragma once
// Checked view of one Ethernet frame. A Frame cannot exist unless every header it names lies inside the bytes.
#include <cstdint>

#include "dataplane/base/bytes.h"
#include "dataplane/base/reason.h"
#include "dataplane/base/types.h"
#include "dataplane/wire/opcode.h"

namespace matchrdma {

inline constexpr uint16_t kRoceUdpPort = 4791;
inline constexpr uint8_t kAethAck = 0x00, kAethRnr = 0x20, kAethNak = 0x60;  ///< upper bits of the syndrome
inline constexpr uint8_t kNakSequence = 0x60, kNakInvalidRequest = 0x61, kNakRemoteAccess = 0x62,
                         kNakRemoteOperation = 0x63, kNakInvalidRd = 0x64;

/// Bytes of IPv6 extension headers that the parser follows. Bounds every offset of a Frame to 16 bits and the
/// copy that the ICRC makes; RFC 8504 5.3 lets a node set such a limit. Longer chains are kIpHeader.
inline constexpr uint32_t kMaxIpv6ExtBytes = 256;
/// info() of a frame whose BTH we do not understand.
inline constexpr OpcodeInfo kOpaqueOpcode{};

/// Views the bytes it was parsed from; does not own them. Accessors may be called on parsed frames only.
class Frame {
 public:
  Frame() = default;

  Bytes bytes() const { return {p_, size_}; }
  const uint8_t* data() const { return p_; }
  uint8_t opcode() const { return opcode_; }
  /// What the parser applied: a header flag that is set says that the header lies inside the bytes. All flags
  /// are false where the transport version is foreign, whatever the opcode.
  const OpcodeInfo& info() const { return *info_; }
  Psn psn() const { return Psn{psn_}; }
  Qpn dest_qp() const { return Qpn{dest_qp_}; }
  bool ack_req() const { return ack_req_; }
  bool solicited() const { return (p_[bth_ + 1] & 0x80) != 0; }
  bool mig_req() const { return (p_[bth_ + 1] & 0x40) != 0; }
  bool fecn() const { return (p_[bth_ + 4] & 0x80) != 0; }
  bool becn() const { return (p_[bth_ + 4] & 0x40) != 0; }
  uint16_t pkey() const { return load_be16(p_ + bth_ + 2); }
  uint16_t udp_source_port() const { return load_be16(p_ + udp_); }
  uint16_t udp_checksum() const { return load_be16(p_ + udp_ + 6); }

  bool is_v4() const { return v4_; }
  IpAddress source() const { return v4_ ? IpAddress::v4(p_ + l3_ + 12) : IpAddress::v6(p_ + l3_ + 8); }
  IpAddress destination() const { return v4_ ? IpAddress::v4(p_ + l3_ + 16) : IpAddress::v6(p_ + l3_ + 24); }
  uint8_t traffic_class() const {
    return v4_ ? p_[l3_ + 1] : static_cast<uint8_t>((p_[l3_] << 4) | (p_[l3_ + 1] >> 4));
  }
  uint8_t ecn() const { return traffic_class() & 3; }  ///< 0 not-ECT, 1 ECT(1), 2 ECT(0), 3 CE (RFC 3168)
  uint8_t hop_limit() const { return v4_ ? p_[l3_ + 8] : p_[l3_ + 7]; }
  uint32_t flow_label() const { return v4_ ? 0 : load_be32(p_ + l3_) & 0xfffff; }
  int vlan_tags() const { return vlan_tags_; }
  /// TCI of tag 0 (outer) or 1 (inner); VLAN id in the low 12 bits, PCP in the high 3.
  uint16_t vlan_tci(int i) const { return load_be16(p_ + 14 + 4 * i); }
  uint16_t vlan_id(int i) const { return i < vlan_tags_ ? static_cast<uint16_t>(vlan_tci(i) & 0xfff) : 0; }

  uint32_t l3_offset() const { return l3_; }
  uint32_t udp_offset() const { return udp_; }
  uint32_t bth_offset() const { return bth_; }
  uint32_t ext_offset() const { return bth_ + 12u; }
  uint32_t payload_offset() const { return payload_; }
  uint32_t icrc_offset() const { return icrc_; }
  /// Payload with its pad bytes (what lies between the extension headers and the ICRC).
  Bytes payload() const { return {p_ + payload_, icrc_ - payload_}; }
  Bytes extension_headers() const { return {p_ + ext_offset(), payload_ - ext_offset()}; }
  uint8_t pad_count() const { return static_cast<uint8_t>((p_[bth_ + 1] >> 4) & 3); }
  uint32_t payload_length() const { return icrc_ - payload_ - pad_count(); }  ///< without pad

  // Only where the opcode has the header (the parser checked that it fits).
  uint64_t reth_va() const { return load_be64(p_ + reth_offset()); }
  uint32_t reth_rkey() const { return load_be32(p_ + reth_offset() + 8); }
  uint32_t reth_length() const { return load_be32(p_ + reth_offset() + 12); }
  uint8_t aeth_syndrome() const { return p_[ext_offset()]; }
  Msn aeth_msn() const { return Msn{load_be24(p_ + ext_offset() + 1)}; }
  uint32_t reth_offset() const { return ext_offset() + (info().deth ? 8u : 0u) + (info().feth ? 4u : 0u); }
  uint32_t deth_qkey() const { return load_be32(p_ + ext_offset()); }
  Qpn deth_source_qp() const { return Qpn{load_be24(p_ + ext_offset() + 5)}; }
  uint32_t feth() const { return load_be32(p_ + ext_offset()); }
  uint64_t atomic_va() const { return load_be64(p_ + ext_offset()); }
  uint32_t atomic_rkey() const { return load_be32(p_ + ext_offset() + 8); }
  uint64_t atomic_swap_add() const { return load_be64(p_ + ext_offset() + 12); }
  uint64_t atomic_compare() const { return load_be64(p_ + ext_offset() + 20); }
  uint64_t atomic_original() const { return load_be64(p_ + ext_offset() + 4); }
  uint32_t imm() const { return load_be32(p_ + payload_ - 4); }        ///< ImmDt is always the last header
  uint32_t ieth_rkey() const { return load_be32(p_ + payload_ - 4); }  ///< so is IETH

  /// The ICRC was found right (check_icrc), and what its CRC was before the payload.
  bool icrc_checked() const { return icrc_checked_; }
  uint32_t crc_before_payload() const { return crc_before_payload_; }

 private:
  friend struct FrameParser;
  friend bool check_icrc(Frame& f);
  const uint8_t* p_ = nullptr;
  const OpcodeInfo* info_ = &kOpaqueOpcode;
  uint32_t size_ = 0;
  uint32_t psn_ = 0;
  uint32_t dest_qp_ = 0;
  uint32_t icrc_ = 0;
  uint32_t crc_before_payload_ = 0;
  uint16_t l3_ = 0, udp_ = 0, bth_ = 0, payload_ = 0;
  uint8_t opcode_ = 0;
  uint8_t vlan_tags_ = 0;
  bool v4_ = false;
  bool ack_req_ = false;
  bool icrc_checked_ = false;
};

enum class ParseKind : uint8_t {
  kRoce,       ///< `frame` is valid; reason kNone, or kUnknownTransport / kUnknownOpcode / kTransportVersion: a
               ///< sound BTH that we do not act on (frame is valid still, payload starts behind the BTH)
  kNotRoce,    ///< foreign: forward untouched
  kMalformed,  ///< forward untouched, counted with its reason
};

struct ParseResult {
  ParseKind kind = ParseKind::kNotRoce;
  Reason reason = Reason::kNone;
  Frame frame;
};

/// Parses Ethernet II, up to two VLAN tags (0x8100, 0x88a8, 0x9100), IPv4 with options, IPv6 with hop-by-hop,
/// routing, destination and fragment headers, UDP to 4791, BTH and extension headers. `bytes` is what was
/// captured: a frame cut by a snap length is kMalformed/kTruncated. Never reads outside `bytes`.
ParseResult parse_frame(Bytes bytes);

/// EtherType behind any VLAN tags; 0 when the frame is too short.
uint16_t ether_type(Bytes bytes);

}  // namespace matchrdma
