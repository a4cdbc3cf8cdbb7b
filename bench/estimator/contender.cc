#include "bench/estimator/contender.h"

#include <algorithm>

#include "controlplane/estimator/budget_rule.h"
#include "controlplane/estimator/capacity_level.h"
#include "controlplane/estimator/estimator.h"
#include "controlplane/estimator/governed.h"
#include "controlplane/estimator/level.h"

namespace matchrdma::estimator_bench {
namespace {

class Ours : public Contender {
 public:
  Ours(const EstimatorSettings& settings, Duration one_way) : one_way_(one_way), estimator_(settings, 1) {
    estimator_.place(0, {.port = 0, .weight = 1, .one_way = one_way});
  }
  Decision close(int64_t slot, const SlotRecord& r, std::span<const double>) override {
    estimator_.record(0, r);
    const std::span<const GroupOutput> out = estimator_.close(slot);
    if (out.empty()) return {};
    return {static_cast<double>(out.front().slot->budget.rate.bps) / 1e9, out.front().slot->why.forecast};
  }
  bool tighten(const SlotRecord& recent, Duration passed, double& budget) override {
    GroupEstimator* e = estimator_.active(0);
    const std::optional<GrantedBudget> order =
        e != nullptr ? e->tighten(recent, passed, one_way_) : std::nullopt;
    if (order) budget = static_cast<double>(order->rate.bps) / 1e9;
    return order.has_value();
  }

 private:
  Duration one_way_;
  Estimator estimator_;
};

/// Another forecast under the same steps 7 to 9.
class Simple : public Contender {
 public:
  Simple(ContenderKind kind, const EstimatorSettings& settings, Duration one_way)
      : oracle_(kind == ContenderKind::kOracle),
        scale_(settings),
        one_way_(one_way),
        floor_(scale_),
        tested_(scale_),
        level_(scale_, scale_.line / 2,
               kind == ContenderKind::kMovingAverage ? Following{.jump = 1e9, .gain = 0.125}
                                                     : Following{.jump = 0, .gain = 1}) {}

  Decision close(int64_t slot, const SlotRecord& r, std::span<const double> truth) override {
    const int h = scale_.horizon(one_way_);
    floor_.observe(r.ack_delay, slot, h);
    const RateSample s = sample_of(r, governed_.budget(slot), scale_);
    level_.observe(s, slot, h);
    tested_.observe(s.acked, 1);
    Curve curve(h);
    for (int i = 0; i < curve.points(); ++i)
      curve.rate[static_cast<size_t>(i)] = forecast(truth, curve.ahead_of(i));
    curve.at_horizon = forecast(truth, h);
    const double late =
        r.ack_delay.count > 0 ? std::max(0.0, static_cast<double>(r.ack_delay.last_ns) - floor_.ns()) : 0;
    const double queue = static_cast<double>(r.backlog_bytes) + late / scale_.slot_ns * scale_.bytes(s.acked);
    const double waiting = projected_queue(queue, slot, curve, governed_, scale_);
    const double allowed = oracle_ ? curve.at_horizon : std::min(curve.at_horizon, tested_.limit());
    const double budget = budget_for(allowed, waiting, one_way_, floor_.draining(), scale_);
    governed_.say(slot, h, budget, curve.at_horizon, {});
    return {budget, curve.at_horizon};
  }
  bool tighten(const SlotRecord&, Duration, double&) override { return false; }

 private:
  double forecast(std::span<const double> truth, int ahead) const {
    return oracle_ ? truth[static_cast<size_t>(ahead - 1)] : level_.c();
  }
  bool oracle_;
  Scale scale_;
  Duration one_way_;
  DelayFloor floor_;
  TestedRate tested_;
  CapacityLevel level_;
  Governed governed_;
};

}  // namespace

const char* name_of(ContenderKind k) {
  switch (k) {
    case ContenderKind::kEarned:
      return "earned";
    case ContenderKind::kPaper:
      return "paper";
    case ContenderKind::kLastValue:
      return "last value";
    case ContenderKind::kMovingAverage:
      return "moving average";
    case ContenderKind::kOracle:
      return "oracle";
  }
  return "";
}

std::unique_ptr<Contender> make_contender(ContenderKind k, Duration slot, Duration one_way) {
  EstimatorSettings settings{.slot = slot};
  if (k == ContenderKind::kPaper) settings.scheme = Scheme::kPaper;
  if (k == ContenderKind::kEarned || k == ContenderKind::kPaper)
    return std::make_unique<Ours>(settings, one_way);
  return std::make_unique<Simple>(k, settings, one_way);
}

}  // namespace matchrdma::estimator_bench
