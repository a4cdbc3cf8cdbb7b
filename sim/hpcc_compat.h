#pragma once
// `compat=hpcc`: what the public simulators do and hardware does not (SIMULATOR 1 to 3), for comparison with
// them.
#include "sim/host.h"
#include "sim/qp_settings.h"
#include "sim/shared_buffer.h"
#include "sim/sim_time.h"

namespace matchrdma::sim {

inline constexpr Tick kHpccTick{1000};  ///< whole nanoseconds, truncated

/// ACKs are in the data class on switches, and first at hosts.
inline constexpr HostSettings kHpccHost{.control_class = kDataClass};

/// The pause threshold in 32 bits without a sign.
inline BufferSettings hpcc_buffer(int64_t bytes) { return {.bytes = bytes, .threshold_wraps = true}; }

/// No retransmission timer.
inline SenderSettings hpcc_sender(const ReactionSettings& reaction) {
  SenderSettings s;
  s.mtu = 1000;
  s.reaction = reaction;
  s.recovers = false;
  return s;
}

/// The CNP bit on every ACK of a marked packet; duplicates are dropped without a word.
inline ReceiverSettings hpcc_receiver() {
  ReceiverSettings r;
  r.acks_duplicates = false;
  r.notification = Notification::kEveryAck;
  return r;
}

}  // namespace matchrdma::sim
