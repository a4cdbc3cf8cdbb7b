#include "controlplane/estimator/paper_forecast.h"

#include <algorithm>
#include <cmath>

namespace matchrdma {
namespace {

constexpr Duration kRecent = Duration::millis(50);
constexpr double kRecurrentWeight = 1, kStableWeight = 0.6, kJitterWeight = 0.15;
constexpr std::array<double, 3> kLevelFactor = {1, 0.9, 0.7};  // Low, Moderate, High
constexpr double kSameWindow = 0.15;
constexpr int kPeriods = 4;

}  // namespace

PaperForecast::PaperForecast(const Scale& scale, double start)
    : floor_(scale.floor),
      line_(scale.line),
      recent_(std::clamp<int64_t>(static_cast<int64_t>(scale.slots(kRecent)), 1, CapacityMemory::kSlots - 1)),
      search_(scale),
      start_(start) {}

double PaperForecast::weight(int64_t slot) const { return stable(slot) ? kStableWeight : kJitterWeight; }

void PaperForecast::forget_oldest() {
  const int64_t old = memory_.end() - 1 - recent_;
  if (old < memory_.begin()) return;
  sum_ -= weight(old) * memory_.at(old);
  weights_ -= weight(old);
}

// Where the queue was empty the egress says nothing about the capacity: then the forecast stands if it is
// higher.
void PaperForecast::observe(const RateSample& s, const SlotRecord& r, CongestionLevel level) {
  const double seen = r.backlog_bytes > 0 ? s.acked : std::max(s.acked, at(0));
  const double rate = kLevelFactor[static_cast<size_t>(level)] * seen;
  const bool jump = level != level_ || std::fabs(rate - window_.mean()) > kSameWindow * window_.mean();
  level_ = level;
  remember(rate, jump);
  search_.work(memory_);
}

void PaperForecast::remember(double rate, bool jump) {
  window_.add(rate, jump);
  memory_.push(rate);
  const int64_t slot = memory_.end() - 1;
  stable_[static_cast<size_t>(slot & (CapacityMemory::kSlots - 1))] = window_.kind(0) == WindowKind::kStable;
  sum_ += weight(slot) * memory_.at(slot);
  weights_ += weight(slot);
  forget_oldest();
}

double PaperForecast::at(int ahead) const {
  double sum = sum_, weights = weights_;
  for (int q = 1; q <= kPeriods && period() > 0; ++q) {
    const auto slot = memory_.end() - 1 + ahead - static_cast<int64_t>(q * period() + 0.5);
    if (slot < memory_.begin()) break;
    if (slot >= memory_.end() || !stable(slot)) continue;
    sum += kRecurrentWeight * memory_.at(slot);
    weights += kRecurrentWeight;
  }
  return weights > 0 ? std::clamp(sum / weights, floor_, line_) : start_;
}

}  // namespace matchrdma
