#include "controlplane/estimator/period.h"

#include <algorithm>

namespace matchrdma {
namespace {

constexpr Duration kShortest = Duration::millis(10), kLongest = Duration::millis(300);
constexpr int kLeastPoints = 100;
constexpr int64_t kEverySlots = 64;            // a search at most
constexpr int kCopiesPerSlot = 128;            // points
constexpr double kFlat = 0.08;                 // standard deviation over mean: below there is nothing to find
constexpr double kAccept = 0.4, kNear = 0.85;  // of correlation; of the best one

// Eight sums side by side: the compiler may not reorder additions by itself.
float dot(const float* a, const float* b, int n) {
  constexpr int kLanes = 8;
  std::array<float, kLanes> sum{};
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) sum[static_cast<size_t>(j)] += a[i + j] * b[i + j];
  }
  float all = 0;
  for (; i < n; ++i) all += a[i] * b[i];
  for (const float s : sum) all += s;
  return all;
}

}  // namespace

PeriodSearch::PeriodSearch(const Scale& scale)
    : min_lag_(std::clamp(static_cast<int>(scale.slots(kShortest) / kDecimation), 3, kMaxLag)),
      max_lag_(std::clamp(static_cast<int>(scale.slots(kLongest) / kDecimation), min_lag_, kMaxLag)) {}

bool PeriodSearch::work(const CapacityMemory& memory) {
  if (stage_ == Stage::kCopy) {
    if (points_ == 0 && memory.end() - began_ < kEverySlots) return false;
    const bool overtaken = first_ + int64_t{next_} * kDecimation < memory.begin();  // slots were left out
    if (points_ == 0 || overtaken) begin(memory);
    if (points_ == 0) return false;
    copy(memory);
    if (next_ < points_) return false;
    if (uneven()) {
      stage_ = Stage::kCorrelate;
      next_ = min_lag_ - 1;
      return false;
    }
    period_ = 0;
  } else {
    const int last = std::min(max_lag_, points_ / 2) + 1;
    correlate(next_++);  // one lag a slot: 0.3 us
    if (next_ <= last) return false;
    period_ = found();
  }
  stage_ = Stage::kCopy;
  points_ = 0;
  return true;
}

// The oldest slots will be overwritten while the copy is made: they are left out.
void PeriodSearch::begin(const CapacityMemory& memory) {
  began_ = memory.end();
  constexpr int64_t kMargin = kPoints / kCopiesPerSlot;
  const int64_t slots = std::min(memory.size(), CapacityMemory::kSlots - kMargin);
  points_ = static_cast<int>(slots / kDecimation);
  if (points_ < kLeastPoints) points_ = 0;
  first_ = memory.end() - int64_t{points_} * kDecimation;
  next_ = 0;
}

void PeriodSearch::copy(const CapacityMemory& memory) {
  const int end = std::min(points_, next_ + kCopiesPerSlot);
  const float* slot = memory.from(first_ + int64_t{next_} * kDecimation);
  for (; next_ < end; ++next_, slot += kDecimation) {
    at_[static_cast<size_t>(next_)] = (slot[0] + slot[1] + slot[2] + slot[3]) / kDecimation;
  }
}

// Takes the mean off; false if what remains is too flat for a period.
bool PeriodSearch::uneven() {
  const auto n = static_cast<size_t>(points_);
  double mean = 0;
  for (size_t i = 0; i < n; ++i) mean += static_cast<double>(at_[i]);
  mean /= points_;
  for (size_t i = 0; i < n; ++i) at_[i] -= static_cast<float>(mean);
  variance_ = static_cast<double>(dot(at_.data(), at_.data(), points_));
  return variance_ / points_ > kFlat * kFlat * mean * mean;
}

void PeriodSearch::correlate(int lag) {
  const int n = points_ - lag;
  correlation_[static_cast<size_t>(lag)] = dot(at_.data(), at_.data() + lag, n) /
                                           static_cast<float>(variance_) * static_cast<float>(points_) /
                                           static_cast<float>(n);
}

bool PeriodSearch::is_peak(int lag) const {
  const float* c = &correlation_[static_cast<size_t>(lag)];
  return c[0] >= c[-1] && c[0] >= c[1];
}

double PeriodSearch::best() const {
  float best = 0;
  for (int lag = min_lag_; lag < next_ - 1; ++lag) {
    if (is_peak(lag)) best = std::max(best, correlation_[static_cast<size_t>(lag)]);
  }
  return static_cast<double>(best);
}

// The smallest lag that is nearly as good as the best one (a multiple of the period is as good as the period),
// refined by the parabola through its neighbours.
double PeriodSearch::found() const {
  const double least = std::max(kAccept, kNear * best());
  for (int lag = min_lag_; lag < next_ - 1; ++lag) {
    const float* c = &correlation_[static_cast<size_t>(lag)];
    if (!is_peak(lag) || static_cast<double>(c[0]) <= least) continue;
    const auto left = static_cast<double>(c[-1]), top = static_cast<double>(c[0]),
               right = static_cast<double>(c[1]);
    const double bend = left - 2 * top + right;
    const double off = bend < 0 ? std::clamp((left - right) / (2 * bend), -0.5, 0.5) : 0;
    return (lag + off) * kDecimation;
  }
  return 0;
}

}  // namespace matchrdma
