#pragma once
// Congestion level of a slot and the least ACK delay (ESTIMATOR 1).
#include <cstdint>

#include "controlplane/estimator/settings.h"
#include "dataplane/flow/slot_record.h"

namespace matchrdma {

enum class CongestionLevel : uint8_t { kLow, kModerate, kHigh };

/// Level of a record that has ACKs: mean ack delay over its minimum, and CNPs per 1000 packets.
CongestionLevel level_of(const SlotRecord& r, double min_delay_ns);

/// Duty: the least ACK delay, which is what an empty network takes. It does not expire by age, since a standing
/// queue would become the minimum: it is looked for by draining.
class DelayFloor {
 public:
  explicit DelayFloor(const Scale& scale);

  void observe(const AckDelays& d, int64_t slot, int horizon);
  /// True while budgets must be low enough to show the minimum anew.
  bool draining() const { return drain_end_ >= 0; }
  /// 0 until an ACK was seen.
  double ns() const { return minimum_ns_; }

 private:
  double slots_until_doubt_;
  double minimum_ns_ = 0, drain_minimum_ns_ = 0;
  int64_t last_seen_ = 0;
  int64_t drain_end_ = -1;  ///< slot
};

/// Duty: the level of each slot; one without ACKs takes the last one's, marked stale.
class LevelTracker {
 public:
  /// min_delay_ns: DelayFloor::ns().
  void observe(const SlotRecord& r, double min_delay_ns);
  CongestionLevel level() const { return level_; }
  bool stale() const { return stale_; }

 private:
  CongestionLevel level_ = CongestionLevel::kLow;
  bool stale_ = true;
};

}  // namespace matchrdma
