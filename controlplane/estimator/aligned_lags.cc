#include "controlplane/estimator/aligned_lags.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace matchrdma {
namespace {

constexpr double kCompared = 0.7;                    // of a period
constexpr double kReach = 0.12, kLaterReach = 0.16;  // of a period: jitter of one; of one after another
constexpr int kComparisonsPerSlot = 2048;            // about 1 us
constexpr int kEverySlots = 4;                       // a round at most

// Mean absolute difference of n values, `stride` apart. Four sums side by side: the compiler may not reorder.
double mean_difference(const float* a, const float* b, int n, int stride) {
  std::array<float, 4> sum{};
  int i = 0;
  for (; i + 4 <= n; i += 4, a += 4 * stride, b += 4 * stride) {
    for (int j = 0; j < 4; ++j) sum[static_cast<size_t>(j)] += std::fabs(a[j * stride] - b[j * stride]);
  }
  for (; i < n; ++i, a += stride, b += stride) sum[0] += std::fabs(*a - *b);
  return static_cast<double>(sum[0] + sum[1] + sum[2] + sum[3]) / n;
}

}  // namespace

void AlignedLags::begin(int64_t end, double period) {
  end_ = end;
  period_ = period;
  compared_ = static_cast<int>(kCompared * period);
  stride_ = period > 200 ? 4 : period > 60 ? 2 : 1;
  next_lags_ = {};
  q_ = 0;
  running_ = true;
  begin_period();
}

void AlignedLags::begin_period() {
  centre_ = period_ + (q_ > 0 ? next_lags_[static_cast<size_t>(q_ - 1)] : 0);
  reach_ = static_cast<int>((q_ > 0 ? kLaterReach : kReach) * period_);
  offset_ = -reach_;
  best_ = std::numeric_limits<double>::max();
  best_lag_ = 0;
}

void AlignedLags::try_offset(const CapacityMemory& memory) {
  const int lag = static_cast<int>(centre_ + offset_ + 0.5);
  const int64_t first = end_ - compared_;
  if (first - lag < memory.begin()) return;
  const double difference = mean_difference(memory.from(first), memory.from(first - lag),
                                            (compared_ + stride_ - 1) / stride_, stride_) +
                            edge_penalty_ * std::abs(offset_) / std::max(1, reach_);
  if (difference >= best_) return;
  best_ = difference;
  best_lag_ = lag;
}

void AlignedLags::end_period() {
  next_lags_[static_cast<size_t>(q_)] = best_lag_;
  ++q_;
  if (best_lag_ > 0 && q_ < kPeriods) {
    begin_period();
    return;
  }
  lags_ = next_lags_;
  running_ = false;
}

void AlignedLags::work(const CapacityMemory& memory, double period) {
  if (!running_) {
    if (memory.end() - end_ < kEverySlots) return;
    begin(memory.end(), period);
  }
  const int step = std::max(1, stride_ / 2);
  for (int done = 0; running_ && done < kComparisonsPerSlot; done += compared_ / stride_ + 1) {
    try_offset(memory);
    offset_ += step;
    if (offset_ > reach_) end_period();
  }
}

}  // namespace matchrdma
