#pragma once
// The level estimate c and the probe that raises it (ESTIMATOR 3, 8).
#include <cstdint>

#include "controlplane/estimator/sample.h"
#include "controlplane/estimator/settings.h"

namespace matchrdma {

/// How c follows a saturated sample. Other values than these are for comparisons.
struct Following {
  double jump = 0.15;  ///< of c: a sample that is further off is a change, not noise
  double gain = 0.25;
};

/// Duty: the capacity of now, in Gb/s. Follows saturated slots, is never below what a censored slot delivered,
/// and is raised step by step while the budget is all that limits.
class CapacityLevel {
 public:
  CapacityLevel(const Scale& scale, double start, const Following& following = {});

  /// True if the sample was too far from c to be noise: c has jumped to it.
  bool observe(const RateSample& s, int64_t slot, int horizon);
  double c() const { return c_; }
  /// Gb/s that the next step will add; and whether this slot made one.
  double step() const { return step_; }
  bool probed() const { return probed_; }

 private:
  bool follow(double r);
  void probe(const RateSample& s, int64_t slot, int horizon);

  Following following_;
  double line_, first_step_, last_step_;
  double c_, step_;
  int censored_limited_ = 0;  ///< in a row
  int64_t next_probe_ = 0;
  bool probed_ = false;
};

}  // namespace matchrdma
