#pragma once
// What every stage is given: the time, where outputs go, and the worker's shared means.
#include <algorithm>
#include <vector>

#include "dataplane/flow/counters.h"
#include "dataplane/flow/latencies.h"
#include "dataplane/flow/limits.h"
#include "dataplane/flow/outbox.h"

namespace matchrdma {

struct RoleCtx {
  Instant now;
  Outbox* out = nullptr;
  PacketPool* pool = nullptr;
  Counters* n = nullptr;
  Latencies* latencies = nullptr;
  const Limits* limits = nullptr;
  const Timing* timing = nullptr;
  const Tuning* tuning = nullptr;
  const FlowPolicy* policy = nullptr;
  Duration rtt;  ///< newest windowed minimum of the span's round trip
  bool peer_up = true;
  uint64_t soft_packets = 0;  ///< of custody_packets, the share that custody_soft is of custody_hard
  std::vector<uint32_t>* touched =
      nullptr;              ///< flows that gate or egress served: they need new deadlines and ACKs
  uint32_t busy_flows = 0;  ///< something happened to so many within a round trip
  /// How long a report or a mark of one flow may wait: `least` where few flows have any, up to `most` where so
  /// many have that each packet would bring one.
  Duration crowded(Duration least, Duration most) const {
    constexpr int64_t kFew = 64;
    return Duration{std::max(least.ns, std::min(most.ns, least.ns * (busy_flows / kFew)))};
  }
  /// Custody above `eighths` of its soft limit, in bytes or in packets: small ones use these up first.
  bool custody_above(uint64_t eighths) const {
    return n->custody_bytes > limits->custody_soft_bytes * eighths / 8 ||
           n->custody_packets > soft_packets * eighths / 8;
  }
  bool custody_is_short() const { return custody_above(8); }
  /// After that an unanswered message is said again.
  Duration answer_wait() const { return rtt + rtt / 2 + timing->handshake_retry_min; }
};

/// ACKs in a row for what was never sent: a pair that was inferred is wrong (C6).
inline constexpr uint32_t kContradictions = 3;

/// Makes the bytes of `p` changeable: `p` stays itself when nobody else, nor a driver, holds it and becomes a
/// copy otherwise (law 4: what is retained is final). False, and `p` untouched, when the pool is exhausted.
bool make_writable(PacketRef& p, PacketPool& pool);

/// PSNs a request occupies (C13): READ takes one per response packet, at least one. `path_mtu` > 0.
uint32_t psn_count(const Frame& f, uint32_t path_mtu);

/// Hash of what makes a request the same request on retransmission: opcode, length, extension headers (C4).
/// Not AckReq, ECN, IP identification, TTL.
uint32_t request_hash(const Frame& f);

}  // namespace matchrdma
