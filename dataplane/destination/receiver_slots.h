#pragma once
// When the slots of the receivers begin and end.
#include <span>
#include <vector>

#include "dataplane/destination/egress_group.h"

namespace matchrdma {

/// Duty: per slot one record of every receiver that something came for, waits or was acknowledged. Slots are
/// multiples of their length since time 0. Without a length nothing is recorded. On a short span, where a
/// budget is back within the slot, those that are strained are looked at within it (ESTIMATOR 9).
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
  /// Ends the slot if `now` is behind it, else looks if that is due. closed(), looked(): the records, until the
  /// next call.
  void run(Instant now, Duration rtt);
  std::span<const GroupSlot> closed() const { return closed_; }
  std::span<const GroupSlot> looked() const { return looked_; }
  Instant next_deadline() const { return metered_.empty() ? Instant::never() : earlier(look_at_, end_); }

 private:
  static constexpr int64_t kLooks = 4;                       ///< the last of them is the end of the slot
  static constexpr Duration kForget = Duration::seconds(1);  ///< what repairs need, since the last hole
  int64_t number() const { return end_.ns / slot_.ns - 1; }
  void close();
  void look(Instant now);
  void begin(EgressGroup& g, Instant now);
  Instant end_after(Instant now) const { return Instant{(now.ns / slot_.ns + 1) * slot_.ns}; }

  Duration slot_;
  Instant end_, look_at_ = Instant::never();
  bool began_ = false;  ///< nobody was watched before; run() has not seen to the looks yet
  std::vector<EgressGroup*> metered_;
  std::vector<GroupSlot> closed_, looked_;
};

}  // namespace matchrdma
