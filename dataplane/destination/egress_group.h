#pragma once
// One receiver: the flows to it, what paces them, and what it is seen to take.
#include <algorithm>
#include <cstdint>

#include "dataplane/base/intrusive_fifo.h"
#include "dataplane/base/token_bucket.h"
#include "dataplane/destination/destination_flow.h"
#include "dataplane/destination/reactive_egress.h"
#include "dataplane/destination/slot_meter.h"
#include "dataplane/flow/limits.h"

namespace matchrdma {

struct EgressGroup {
  EgressGroup(const GroupKey& k, uint32_t number, const Tuning& t, Instant now)
      : key(k),
        index(number),
        capacity(t.egress, t.egress_burst_bytes, now),
        reactive(t.egress, t.queue_target / 2),
        meter(t.queue_target / 4) {}

  static constexpr uint64_t kPacedBurst = 2 * 9216;  // two jumbo frames

  GroupKey key;
  uint32_t index;
  IntrusiveFifo<DestinationFlow, &DestinationFlow::next_in_group> flows;
  TokenBucket capacity;     ///< the most that the receiver is known to take
  ReactiveEgress reactive;  ///< what its CNPs ask for
  TokenBucket pacing;       ///< at that rate, while they do

  SlotMeter meter;
  bool metered = false;        ///< in the slot of now
  uint64_t queued_bytes = 0;   ///< in order, not delivered yet
  uint64_t unacked_bytes = 0;  ///< delivered, not acknowledged yet
  /// So much may wait here where the span loses packets, or each hole would stop the receiver until it is
  /// filled.
  uint64_t repair_bytes = 0;
  /// What waits here and should not.
  uint64_t backlog_bytes() const { return queued_bytes - std::min(queued_bytes, repair_bytes); }

  bool paced() const { return reactive.tightened(); }
  bool open() const { return capacity.open() && (!paced() || pacing.open()); }
  Instant opens_at() const {
    return paced() ? later(capacity.opens_at(), pacing.opens_at()) : capacity.opens_at();
  }
  void refill(Instant now) {
    capacity.refill(now);
    if (paced()) pacing.refill(now);
  }
  void charge(uint32_t bytes) {
    capacity.charge(bytes);
    if (paced()) pacing.charge(bytes);
  }
  /// The receiver's CNP: its network's queue is too long.
  void cnp(Instant now) {
    const bool first = !paced();
    meter.cnp();
    reactive.cnp(meter.acked_rate(now));
    if (first) {
      // What is sent from now on is paced, not what could have been sent before.
      pacing = TokenBucket(reactive.rate(), kPacedBurst, now);
    } else {
      pacing.set_rate(reactive.rate(), now);
    }
  }
  /// An ACK came so long after the packet that asked for it.
  void ack_delay(Duration d, Instant now) {
    meter.delay(d, now);
    if (paced()) reactive.queue(meter.network_queue());
  }
};

}  // namespace matchrdma
