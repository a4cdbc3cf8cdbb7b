#include "controlplane/estimator/group_estimator.h"

#include <algorithm>
#include <utility>

namespace matchrdma {
namespace {

constexpr double kReduced = 0.8;       // of the budget: a smaller cut can wait for the slot to end
constexpr double kRise = 1.15;         // of the forecast
constexpr double kMostDelayNs = 10e9;  // an ACK that takes longer is a miscount

}  // namespace

GroupEstimator::GroupEstimator(const EstimatorSettings& settings, const GroupSeed& seed, int64_t first_slot)
    : scale_(settings),
      settings_(settings),
      delay_floor_(scale_),
      level_(scale_, std::clamp(seed.c, scale_.floor, scale_.line)),
      run_(scale_),
      recurrence_(scale_),
      forecast_(scale_, level_.c()),
      tested_(scale_) {
  memory_.restart(first_slot);
  output_.why.slot = first_slot - 1;
  output_.budget.seq = seed.next_seq - 1;
  if (settings.scheme == Scheme::kPaper) paper_ = std::make_unique<PaperForecast>(scale_, level_.c());
}

double GroupEstimator::observe(const SlotRecord& seen, int64_t slot, Duration one_way) {
  const SlotRecord r = seen.per(settings_.slot);
  SlotWhy& why = output_.why;
  if (slot <= why.slot) return why.wanted;
  tested_.observe(0, std::min(slot - why.slot - 1, CapacityMemory::kSlots));
  catch_up(slot);
  why.slot = slot;
  why.horizon = scale_.horizon(one_way);
  delay_floor_.observe(r.ack_delay, slot, why.horizon);
  congestion_.observe(r, delay_floor_.ns());
  why.arrived = scale_.rate(static_cast<double>(r.arrived_bytes));
  why.backlog = r.backlog_bytes;
  why.governing = governed_.budget(slot);
  why.tightened = std::exchange(tightened_, 0);
  why.sample = sample_of(r, why.governing, scale_);
  tested_.observe(why.sample.acked, 1);
  const bool jump = level_.observe(why.sample, slot, why.horizon);
  remember(why.sample, slot, jump);
  if (paper_) paper_->observe(why.sample, r, congestion_.level());
  const Curve curve = foresee(why.horizon);
  return decide(r, curve, one_way);
}

// Slots that nobody closed: the capacity of then is not known, and the forecast of the recurrence is as good as
// any.
void GroupEstimator::catch_up(int64_t slot) {
  if (slot == memory_.end()) return;
  run_.end();
  window_.end();
  if (slot - memory_.end() >= CapacityMemory::kSlots) {
    memory_.restart(slot);
    recurrence_.restart();
    return;
  }
  while (memory_.end() < slot) {
    memory_.push(recurrence_.at_aligned_lags(memory_, 1, level_.c()));
    if (paper_) paper_->miss();
  }
}

// Steps 3 to 6: what this slot says about the capacity, and what was said about it.
void GroupEstimator::remember(const RateSample& s, int64_t slot, bool jump) {
  SlotWhy& why = output_.why;
  const bool recurrent = recurrence_.known();
  const double expected =
      recurrent ? std::min(scale_.line, recurrence_.at_aligned_lags(memory_, 1, level_.c())) : level_.c();
  run_.observe(s, slot, governed_.forecast(slot, why.forecast), recurrent, memory_);
  // No demand says nothing: idle times neither lower nor invent capacity.
  memory_.push(s.saturated() ? s.rate : std::max(s.acked, s.limited ? level_.c() : expected));
  if (s.saturated()) {
    window_.add(s.rate, jump);
  } else {
    window_.end();
  }
  why.window = window_.kind(recurrent ? expected : 0);
  recurrence_.work(memory_);
  Predictions said;
  forecast_.learn(s, governed_.predictions(slot, said) ? &said : nullptr, outlook());
}

Curve GroupEstimator::foresee(int horizon) {
  Curve curve(horizon);
  const Outlook o = outlook();
  SlotWhy& why = output_.why;
  why.predictions = forecast_.predict(horizon, o);
  const bool last = settings_.scheme == Scheme::kLast;
  curve.at_horizon = paper_ ? paper_->at(horizon) : last ? level_.c() : forecast_.mix(why.predictions);
  // Without a period all slots to come look alike.
  const bool level = paper_ ? paper_->period() <= 0 : last || !recurrence_.known();
  for (int i = 0; i < curve.points(); ++i) {
    const int ahead = curve.ahead_of(i);
    curve.rate[static_cast<size_t>(i)] = level    ? curve.at_horizon
                                         : paper_ ? paper_->at(ahead)
                                                  : forecast_.at(ahead, o);
  }
  // The low part of a slot before a rise was foreseen: its budget is right for the whole.
  rises_ = settings_.scheme == Scheme::kEarned && forecast_.at(horizon + 1, o) > kRise * curve.at_horizon;
  return curve;
}

double GroupEstimator::decide(const SlotRecord& r, const Curve& curve, Duration one_way) {
  SlotWhy& why = output_.why;
  const double in_network = downstream(r, why.sample);
  why.level = congestion_.level();
  why.level_stale = congestion_.stale();
  why.draining = delay_floor_.draining();
  why.min_delay_ns = delay_floor_.ns();
  why.c = level_.c();
  why.probed = level_.probed();
  why.probe_step = level_.step();
  why.period = paper_ ? paper_->period() : recurrence_.period();
  why.lags = recurrence_.aligned_lags();
  why.errors = forecast_.errors();
  why.weights = forecast_.weights();
  why.forecast = curve.at_horizon;
  why.tested = tested_.limit();
  why.queue = static_cast<double>(r.backlog_bytes) + in_network;
  why.projected = projected_queue(why.queue, why.slot, curve, governed_, scale_);
  why.wanted = budget_for(std::min(why.forecast, why.tested), why.projected, one_way, why.draining, scale_);
  return why.wanted;
}

const SlotOutput& GroupEstimator::grant(double gbps, Duration validity) {
  SlotWhy& why = output_.why;
  why.granted = std::min(gbps, why.wanted);
  governed_.say(why.slot, why.horizon, why.granted, why.forecast, why.predictions);
  output_.budget = {scale_.to_rate(why.granted), validity, output_.budget.seq + 1};
  return output_;
}

// The cut is to what the receiver takes, not below: the next budget takes off what waits.
std::optional<GrantedBudget> GroupEstimator::tighten(const SlotRecord& recent, Duration passed,
                                                     Duration one_way) {
  SlotWhy& why = output_.why;
  if (scale_.horizon(one_way) > 1 || passed <= Duration{} || tightened_ > 0) return std::nullopt;
  if (level_of(recent, delay_floor_.ns()) != CongestionLevel::kHigh) return std::nullopt;
  Scale part = scale_;
  part.slot_ns = static_cast<double>(passed.ns);
  const RateSample seen = sample_of(recent, 0, part);
  // An ACK tells of the queue that its packet met; what was sent since stands behind it.
  const double under_way = delay_floor_.ns() * seen.acked / 8;
  const auto not_taken = static_cast<double>(recent.backlog_bytes + recent.unacked_bytes);
  if (!seen.saturated() || not_taken - under_way <= scale_.q_target || seen.rate >= kReduced * why.granted ||
      rises_) {
    return std::nullopt;
  }
  tightened_ = std::max(scale_.floor, seen.rate);
  output_.budget.rate = scale_.to_rate(tightened_);
  ++output_.budget.seq;
  return output_.budget;
}

double GroupEstimator::downstream(const SlotRecord& r, const RateSample& s) const {
  if (r.ack_delay.count == 0 || delay_floor_.ns() == 0) return 0;
  const double late = static_cast<double>(r.ack_delay.last_ns) - delay_floor_.ns();
  // However late a single ACK is, no more can wait there than was sent.
  return std::min(static_cast<double>(r.unacked_bytes), std::clamp(late, 0.0, kMostDelayNs) * s.acked / 8);
}

// A sender below its budget may double within a slot; one that is held back could use everything. Nobody asks
// for nothing: what is not granted cannot arrive, and would never be asked for again.
double GroupEstimator::demand() const {
  const SlotWhy& why = output_.why;
  return why.sample.limited ? why.wanted : std::clamp(2 * why.arrived, scale_.floor, why.wanted);
}

}  // namespace matchrdma
