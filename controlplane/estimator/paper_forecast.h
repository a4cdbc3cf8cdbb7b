#pragma once
// The paper's estimate, taken literally: slots weighted by what kind they are (ESTIMATOR, head; paper,
// "slot-weighted rate estimation"). For comparison.
#include <array>
#include <cstdint>

#include "controlplane/estimator/capacity_memory.h"
#include "controlplane/estimator/level.h"
#include "controlplane/estimator/period.h"
#include "controlplane/estimator/rate_window.h"
#include "controlplane/estimator/sample.h"
#include "controlplane/estimator/settings.h"
#include "dataplane/flow/slot_record.h"

namespace matchrdma {

/// Duty: mean of the slots' egress rates, scaled by the level of their congestion: stable ones that stand whole
/// periods before the slot asked for, stable ones of the last 50 ms, jitter-dominated ones of the last 50 ms.
/// The period is that of the egress.
class PaperForecast {
 public:
  explicit PaperForecast(const Scale& scale, double start);

  void observe(const RateSample& s, const SlotRecord& r, CongestionLevel level);
  /// A slot of which nothing is known.
  void miss() { remember(at(0), true); }
  /// Gb/s.
  double at(int ahead) const;
  double period() const { return search_.period(); }
  WindowKind window() const { return window_.kind(0); }

 private:
  bool stable(int64_t slot) const { return stable_[static_cast<size_t>(slot & (CapacityMemory::kSlots - 1))]; }
  double weight(int64_t slot) const;
  void remember(double rate, bool jump);
  void forget_oldest();

  double floor_, line_;
  int64_t recent_;         ///< slots in 50 ms
  CapacityMemory memory_;  ///< of scaled egress
  std::array<bool, CapacityMemory::kSlots> stable_{};
  RateWindow window_;
  CongestionLevel level_ = CongestionLevel::kLow;
  PeriodSearch search_;
  double sum_ = 0, weights_ = 0;  ///< of the recent slots
  double start_;
};

}  // namespace matchrdma
