#include "pcap/replay_budgets.h"

#include <algorithm>
#include <utility>

namespace matchrdma {

void ReplayBudgets::closed(Site site, std::span<const GroupWhy> receivers) {
  for (const GroupWhy& w : receivers) {
    const Rate rate = w.slot->budget.rate;
    auto sum = std::find_if(sums_.begin(), sums_.end(),
                            [&](const BudgetSummary& s) { return s.site == site && s.group == w.group; });
    if (sum == sums_.end()) sum = sums_.insert(sum, {site, w.group, 0, rate, rate});
    ++sum->made;
    sum->lowest = std::min(sum->lowest, rate);
    sum->highest = std::max(sum->highest, rate);
    if (keep_) slots_.push_back({site, w.group, *w.slot});
  }
}

void ReplayBudgets::hand_out(ReplayResult& r) {
  r.budgets = std::move(sums_);
  r.slots = std::move(slots_);
}

}  // namespace matchrdma
