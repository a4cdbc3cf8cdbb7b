#pragma once
// The way from a Shard's records to what its peer is told, where there is one worker.
#include <optional>
#include <span>

#include "controlplane/estimator/budget_maker.h"
#include "dataplane/shard/shard.h"

namespace matchrdma {

/// Duty: feeds a BudgetMaker with what the last run_once() closed and saw, and lets the Shard say what comes of
/// it. Without settings nothing is made.
class SoleBudgets {
 public:
  SoleBudgets(const std::optional<EstimatorSettings>& settings, uint32_t max_groups) {
    if (settings) maker_.emplace(*settings, 1, max_groups);
  }

  /// After each run_once(). True when a slot was closed: why() is about it. `looks`: what is seen within a slot
  /// counts too.
  bool run(Shard& shard, Instant now, Outbox& out, bool looks = true) {
    if (!maker_) return false;
    maker_->record(0, shard.closed_slots());
    if (looks) maker_->look(0, shard.looked_slots());
    const int64_t before = maker_->closed();
    for (const WorkerBudget& b : maker_->run(now, shard.rtt() / 2)) {
      if (!shard.say_budget(b.told, out)) break;  // the next slot has others
    }
    return maker_->closed() != before;
  }
  Instant next_deadline() const { return maker_ ? maker_->next_deadline() : Instant::never(); }
  std::span<const GroupWhy> why() const { return maker_->why(); }
  /// nullptr: nobody estimates.
  const BudgetMaker* maker() const { return maker_ ? &*maker_ : nullptr; }

 private:
  std::optional<BudgetMaker> maker_;
};

}  // namespace matchrdma
