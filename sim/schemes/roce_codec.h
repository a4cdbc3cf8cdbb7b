#pragma once
// From the simulator's packets to real RoCEv2 frames and back: what a real proxy is fed with.
#include <cstdint>
#include <vector>

#include "dataplane/base/packet.h"
#include "dataplane/base/types.h"
#include "sim/sim_packet.h"

namespace matchrdma::sim {

/// Duty: writes and reads frames of one site. Hosts have the addresses 10.0.0.0/8 by their number; the two ends
/// of a QP have numbers of their own. Payload is zeros, since nobody reads it; lengths, headers and ICRC are
/// real.
class RoceCodec {
 public:
  explicit RoceCodec(PacketPool& pool) : pool_(pool) {}

  static IpAddress address(uint32_t host);
  static Qpn sender(uint32_t qp) { return {kSenders + qp}; }
  static Qpn receiver(uint32_t qp) { return {kReceivers + qp}; }

  /// A WRITE request, ACK, sequence NAK or CNP. Empty when the pool is exhausted.
  PacketRef encode(const SimPacket& p) const;
  /// Everything but sizes and classes. False for a frame that no host of the simulator has a use for (a fatal
  /// or RNR NAK): its QP stands still.
  bool decode(Bytes frame, SimPacket& p);

 private:
  static constexpr uint32_t kSenders = 0x100000, kReceivers = 0x200000;
  /// The PSN that a QP was sent last, to unwrap the next one: by host and QP.
  using Nearest = std::vector<std::vector<int64_t>>;
  static int64_t& nearest(Nearest& all, uint32_t host, uint32_t qp);

  PacketPool& pool_;
  Nearest requests_, answers_;
};

}  // namespace matchrdma::sim
