#pragma once
// Ethernet, IPv4 or IPv6 and UDP in front of what a proxy sends: RoCE packets and its own datagrams.
#include <array>
#include <cstdint>

#include "dataplane/base/bytes.h"
#include "dataplane/base/types.h"
#include "dataplane/wire/frame.h"

namespace matchrdma {

inline constexpr uint32_t kUdpBytes = 8;
inline constexpr uint8_t kEcnMask = 3, kEct0 = 2, kCe = 3;  ///< RFC 3168 5

/// Everything below the UDP payload. Addresses as on the wire of the packet to be built.
struct L2L3 {
  std::array<uint8_t, 6> mac_dst{}, mac_src{};
  int vlan_tags = 0;
  std::array<uint16_t, 2> vlan_tpid{0x8100, 0x8100};
  std::array<uint16_t, 2> vlan_tci{};
  IpAddress src, dst;
  uint8_t traffic_class = 0;
  uint8_t hop_limit = 64;
  uint32_t flow_label = 0;
  uint16_t udp_source_port = 0;
  bool udp_checksum = false;  ///< false: 0 as NICs send it
  /// Same addressing as `f`; `reversed`: source and destination swapped (an answer to `f`).
  static L2L3 from(const Frame& f, bool reversed);
  bool operator==(const L2L3&) const = default;
};

/// True for IPv4; both addresses must be of one version.
bool is_v4(const L2L3& l);
/// Bytes before the IP header, and before the UDP payload.
uint32_t l3_offset(const L2L3& l);
uint32_t udp_payload_offset(const L2L3& l);
/// Fills the headers of `frame`, which ends where the UDP payload does. IPv4: DF set, identification 0, header
/// checksum right. The UDP checksum is 0.
void write_udp_headers(const L2L3& l, uint16_t destination_port, MutableBytes frame);
/// Ones' complement sum of what the UDP checksum covers: the pseudo-header and the datagram, in which the
/// checksum itself is 0.
uint32_t udp_checksum_sum(const L2L3& l, Bytes frame);
/// RFC 768 and RFC 8200 8.1, over the payload that stands in `frame`: a computed 0 is sent as ones.
void write_udp_checksum(const L2L3& l, MutableBytes frame);

/// Adds `n` bytes as big-endian words of 16 bits to a ones' complement sum; an odd last byte is a high one.
uint32_t sum16(uint32_t sum, const uint8_t* p, size_t n);
/// Ones' complement sum of 32 bits folded into 16 (RFC 1071).
uint16_t fold_checksum(uint32_t sum);
/// A computed UDP checksum of 0 is sent as ones, since 0 says "none" (RFC 768).
inline uint16_t udp_form(uint16_t checksum) { return checksum == 0 ? uint16_t{0xffff} : checksum; }

}  // namespace matchrdma
