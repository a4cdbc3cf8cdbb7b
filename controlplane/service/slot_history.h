#pragma once
// The newest slots of a span and why their budgets are what they are.
#include <algorithm>
#include <span>
#include <vector>

#include "controlplane/estimator/budget_maker.h"

namespace matchrdma::service {

/// One slot of one receiver.
struct SlotRow {
  GroupKey group;
  SlotOutput slot;
};
using SlotList = std::vector<SlotRow>;

/// Duty: keeps the newest rows, oldest first.
class SlotHistory {
 public:
  static constexpr size_t kRows = 512;

  void add(std::span<const GroupWhy> closed) {
    for (const GroupWhy& w : closed) rows_.push_back({w.group, *w.slot});
    // In lumps: the front of a vector is dear to cut.
    if (rows_.size() > 2 * kRows) rows_.erase(rows_.begin(), rows_.end() - kRows);
  }
  SlotList newest() const {
    return {rows_.end() - static_cast<std::ptrdiff_t>(std::min(kRows, rows_.size())), rows_.end()};
  }

 private:
  SlotList rows_;
};

}  // namespace matchrdma::service
