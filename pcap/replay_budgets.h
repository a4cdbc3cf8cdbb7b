#pragma once
// What the estimators of a replay said.
#include <cstdint>
#include <span>
#include <vector>

#include "controlplane/estimator/budget_maker.h"
#include "pcap/replay_options.h"

namespace matchrdma {

/// Duty: sums up the closed slots of both proxies and, where asked to, keeps them.
class ReplayBudgets {
 public:
  explicit ReplayBudgets(bool keep) : keep_(keep) {}

  /// A slot of this proxy has been closed.
  void closed(Site site, std::span<const GroupWhy> receivers);
  void hand_out(ReplayResult& r);

 private:
  bool keep_;
  std::vector<BudgetSummary> sums_;  ///< in order of appearance
  std::vector<ReplaySlot> slots_;
};

}  // namespace matchrdma
