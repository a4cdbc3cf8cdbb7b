#include "controlplane/estimator/budget_rule.h"

#include <algorithm>

namespace matchrdma {
namespace {

constexpr double kTestedNs = 1e9;  // decay of the highest acked rate
constexpr double kSettleSlots = 4;
constexpr double kDrainShare = 0.9;  // of the forecast, to see the least delay

}  // namespace

TestedRate::TestedRate(const Scale& scale)
    : least_(scale.percent(25)), keep_(std::max(0.0, 1 - scale.slot_ns / kTestedNs)) {}

void TestedRate::observe(double acked, int64_t slots) {
  for (int64_t i = 0; i < slots && highest_ > acked; ++i) highest_ *= keep_;
  highest_ = std::max(highest_, acked);
}

double TestedRate::limit() const { return std::max(least_, 2 * highest_); }

double projected_queue(double queued, int64_t now, const Curve& curve, const Governed& governed,
                       const Scale& scale) {
  double q = queued;
  int64_t slot = now + 1;
  for (int i = 0; i < curve.points(); ++i) {
    const double out = curve.rate[static_cast<size_t>(i)];
    double in = 0;
    const int n = curve.slots_of(i);
    for (const int64_t end = slot + n; slot < end; ++slot) {
      const double budget = governed.budget(slot);
      in += budget > 0 ? budget : curve.at_horizon;
    }
    q = std::max(0.0, q + scale.bytes(in - n * out));
  }
  return q;
}

// A rise of the capacity shows in the next slot only if something waits, hence the target; more than that is
// taken off slowly, since over a long span the next budgets have the same to take off.
double budget_for(double forecast, double waiting, Duration one_way, bool draining, const Scale& scale) {
  const double quick = kSettleSlots * scale.slot_ns;
  const double settle = waiting < scale.q_target ? quick : std::max(static_cast<double>(one_way.ns), quick);
  const double target = draining ? 0 : scale.q_target;
  const double allowed = draining ? kDrainShare * forecast : forecast;
  return std::clamp(allowed - (waiting - target) * 8 / settle, scale.floor, scale.line);
}

Duration budget_validity(Duration slot) { return std::max(slot * 16, Duration::millis(4)); }

}  // namespace matchrdma
