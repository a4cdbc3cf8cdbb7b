#pragma once
// What the last four periods say about a slot to come (ESTIMATOR 5, 6).
#include <array>
#include <cstdint>

#include "controlplane/estimator/aligned_lags.h"
#include "controlplane/estimator/capacity_memory.h"
#include "controlplane/estimator/period.h"
#include "controlplane/estimator/settings.h"

namespace matchrdma {

/// Duty: period and lags, and the median of the memory at them.
class Recurrence {
 public:
  explicit Recurrence(const Scale& scale) : search_(scale), aligned_(scale) {}

  /// One slot's share of the searches; after the slot was pushed.
  void work(const CapacityMemory& memory);
  bool known() const { return period() > 0; }
  /// Slots; 0 if there is none.
  double period() const { return search_.period(); }
  const AlignedLags::Lags& fixed_lags() const { return fixed_; }
  const AlignedLags::Lags& aligned_lags() const { return aligned_.lags(); }

  /// Median of the memory one to four periods before slot `end() - 1 + ahead`, Gb/s; `otherwise` if it is too
  /// short.
  double at_fixed_lags(const CapacityMemory& memory, int ahead, double otherwise) const;
  double at_aligned_lags(const CapacityMemory& memory, int ahead, double otherwise) const;
  void restart();

 private:
  PeriodSearch search_;
  AlignedLags aligned_;
  AlignedLags::Lags fixed_{};
};

}  // namespace matchrdma
