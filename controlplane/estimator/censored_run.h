#pragma once
// What a run of censored slots says once it has ended in a saturated one (ESTIMATOR 4).
#include <cstdint>

#include "controlplane/estimator/capacity_memory.h"
#include "controlplane/estimator/sample.h"
#include "controlplane/estimator/settings.h"

namespace matchrdma {

/// Duty: corrects the memory of slots in which the capacity was not seen, when it is seen next. Without that a
/// period's first slots would be remembered as what we dared to send in them, for ever.
class CensoredRun {
 public:
  explicit CensoredRun(const Scale& scale) : least_edge_(scale.percent(1)) {}

  /// forecast: what was forecast for this slot, Gb/s; called before the slot is pushed. recurrent: a period is
  /// known.
  void observe(const RateSample& s, int64_t slot, double forecast, bool recurrent, CapacityMemory& memory);
  /// Slots are missing: what they held is not known.
  void end() { start_ = -1; }

 private:
  bool differs(double forecast) const;
  void settle(double r, int64_t slot, bool recurrent, CapacityMemory& memory) const;

  double least_edge_;
  int64_t start_ = -1;        ///< first slot of the run; -1: no run
  double highest_ = 0;        ///< acked rate of it
  int64_t edge_ = -1;         ///< last slot in which the forecast changed, or the start
  double edge_forecast_ = 0;  ///< since then
  double edge_highest_ = 0;
};

}  // namespace matchrdma
