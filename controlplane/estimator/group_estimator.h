#pragma once
// The estimate of one budget group: the order of the steps on one screen.
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "controlplane/estimator/budget_rule.h"
#include "controlplane/estimator/capacity_level.h"
#include "controlplane/estimator/capacity_memory.h"
#include "controlplane/estimator/censored_run.h"
#include "controlplane/estimator/forecast.h"
#include "controlplane/estimator/governed.h"
#include "controlplane/estimator/paper_forecast.h"
#include "controlplane/estimator/recurrence.h"
#include "controlplane/estimator/slot_view.h"

namespace matchrdma {

/// What outlives a group's idle times.
struct GroupSeed {
  double c;               ///< Gb/s
  uint64_t next_seq = 1;  ///< of its budgets
};

/// Duty: from the records of one group to its budgets. Slots are numbered by the caller; slots left out are
/// slots of which nothing is known. Does not know other groups, nor when a slot ends.
///
/// Call per slot: observe(), then grant() with at most what observe() said.
class GroupEstimator {
 public:
  GroupEstimator(const EstimatorSettings& settings, const GroupSeed& seed, int64_t first_slot);

  /// A slot has ended; one_way: D. Returns the budget wanted, Gb/s. A slot that is not newer than the last one
  /// changes nothing.
  double observe(const SlotRecord& seen, int64_t slot, Duration one_way);
  /// The budget it gets, Gb/s.
  const SlotOutput& grant(double gbps, Duration validity);

  /// In the middle of a slot: a budget with the reduced rate if the group has turned High beyond what was
  /// foreseen, and the source is near enough for that to matter (2D < slot). recent: what was seen in the last
  /// `passed` (20 us of being busy at least), with the backlog of now. Once per slot.
  std::optional<GrantedBudget> tighten(const SlotRecord& recent, Duration passed, Duration one_way);

  const SlotOutput& output() const { return output_; }
  /// What the group could use of its port, Gb/s: all it is granted if the budget is what limits it.
  double demand() const;
  GroupSeed seed() const { return {level_.c(), output_.budget.seq + 1}; }
  /// Memory of its own, with what hangs on it.
  size_t bytes() const { return sizeof *this + (paper_ ? sizeof *paper_ : 0); }

 private:
  void catch_up(int64_t slot);
  void remember(const RateSample& s, int64_t slot, bool jump);
  Curve foresee(int horizon);
  double decide(const SlotRecord& r, const Curve& curve, Duration one_way);
  /// Bytes in the receiver's network.
  double downstream(const SlotRecord& r, const RateSample& s) const;
  Outlook outlook() const { return {&memory_, &recurrence_, level_.c()}; }

  Scale scale_;
  EstimatorSettings settings_;
  DelayFloor delay_floor_;
  LevelTracker congestion_;
  CapacityLevel level_;
  RateWindow window_;
  CapacityMemory memory_;
  CensoredRun run_;
  Recurrence recurrence_;
  Forecast forecast_;
  TestedRate tested_;
  Governed governed_;
  std::unique_ptr<PaperForecast> paper_;  ///< where that is the scheme
  bool rises_ = false;                    ///< the forecast, within the slot that the newest budget governs
  double tightened_ = 0;                  ///< Gb/s, out of cycle, since the last slot; 0: nothing
  SlotOutput output_;
};
static_assert(sizeof(GroupEstimator) < 512 * 1024);

}  // namespace matchrdma
