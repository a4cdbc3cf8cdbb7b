#include "controlplane/estimator/capacity_level.h"

#include <algorithm>
#include <cmath>

namespace matchrdma {
namespace {

constexpr int kProbeAfter = 2;  // slots; one may be an artefact of where the slot was cut

}  // namespace

CapacityLevel::CapacityLevel(const Scale& scale, double start, const Following& following)
    : following_(following),
      line_(scale.line),
      first_step_(scale.percent(2)),
      last_step_(scale.percent(16)),
      c_(start),
      step_(first_step_) {}

bool CapacityLevel::observe(const RateSample& s, int64_t slot, int horizon) {
  probed_ = false;
  if (s.saturated()) return follow(s.rate);
  c_ = std::max(c_, s.acked);
  probe(s, slot, horizon);
  return false;
}

bool CapacityLevel::follow(double r) {
  step_ = first_step_;
  censored_limited_ = 0;
  const bool jump = std::fabs(r - c_) > following_.jump * c_;
  c_ = jump ? r : c_ + following_.gain * (r - c_);
  return jump;
}

// One step per h + 2 slots: before that nobody can have seen what the last step did.
void CapacityLevel::probe(const RateSample& s, int64_t slot, int horizon) {
  censored_limited_ = s.limited ? std::min(censored_limited_ + 1, kProbeAfter) : 0;
  if (censored_limited_ < kProbeAfter || slot < next_probe_) return;
  c_ = std::min(line_, c_ + step_);
  step_ = std::min(last_step_, 2 * step_);
  next_probe_ = slot + horizon + 2;
  probed_ = true;
}

}  // namespace matchrdma
