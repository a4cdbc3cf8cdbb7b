#pragma once
// When the slots of the receivers begin and end.
#include <span>
#include <vector>

#include "dataplane/destination/egress_group.h"

namespace matchrdma {

/// Duty: per slot one record of every receiver that something came for, waits or was acknowledged. Slots are
/// multiples of their length since time 0. Without a length nothing is recorded.
class ReceiverSlots {
 public:
  explicit ReceiverSlots(Duration slot) : slot_(slot) {}

  /// Bytes came from the span for `g`.
  void arrived(EgressGroup& g, uint32_t bytes, Instant now) {
    if (!g.metered) begin(g, now);
    g.meter.arrived(bytes);
  }
  /// Bytes that nobody acknowledges here, since they are none of our flows': they pass at once and count as
  /// taken.
  void passed(EgressGroup& g, uint32_t bytes, Instant now);
  /// Ends the slot if `now` is behind it. closed(): its records, until the next call.
  void run(Instant now);
  std::span<const GroupSlot> closed() const { return closed_; }
  Instant next_deadline() const { return metered_.empty() ? Instant::never() : end_; }

 private:
  void begin(EgressGroup& g, Instant now);
  Instant end_after(Instant now) const { return Instant{(now.ns / slot_.ns + 1) * slot_.ns}; }

  Duration slot_;
  Instant end_;
  std::vector<EgressGroup*> metered_;
  std::vector<GroupSlot> closed_;
};

}  // namespace matchrdma
