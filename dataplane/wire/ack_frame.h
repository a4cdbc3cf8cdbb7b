#pragma once
// The ACKs and NAKs of one flow, written out once: from one to the next only PSN, AETH and ICRC change.
#include <array>
#include <cstdint>

#include "dataplane/base/packet.h"
#include "dataplane/wire/udp_frame.h"

namespace matchrdma {

/// Duty: an ACK packet that lacks its numbers. A copy of it and a CRC over seven bytes make one that can be
/// sent (IBA 9.7.5.1; the ICRC of A17.3.3 and the UDP checksum of RFC 768 go on from where the constant part
/// ends).
class AckFrame {
 public:
  /// To the queue pair `to`. `net` as on the wire of the ACK.
  void prepare(const L2L3& net, Qpn to, uint16_t pkey, bool mig_req);
  bool prepared() const { return size_ != 0; }
  /// Empty when the pool is exhausted. Of a prepared one only.
  PacketRef make(Psn psn, uint8_t syndrome, Msn msn, PacketPool& pool) const;

 private:
  static constexpr size_t kMost = 14 + 2 * 4 + 40 + kUdpBytes + 12 + 4 + 4;  ///< IPv6 behind two tags
  std::array<uint8_t, kMost> bytes_{};                                       ///< zeros where the numbers stand
  uint8_t size_ = 0;
  bool udp_checksum_ = false;
  uint32_t crc_ = 0;  ///< running, of what stands before the PSN
  uint32_t sum_ = 0;  ///< ones' complement sum of what the UDP checksum covers
};

}  // namespace matchrdma
