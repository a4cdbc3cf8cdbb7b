#include "controlplane/estimator/recurrence.h"

#include <algorithm>

namespace matchrdma {
namespace {

double median(const std::array<double, AlignedLags::kPeriods>& v, int n) {
  const auto [least, most] = std::minmax({v[0], v[1]});
  if (n == 1) return v[0];
  if (n == 2) return (v[0] + v[1]) / 2;
  if (n == 3) return std::clamp(v[2], least, most);
  const double low = std::max(least, std::min(v[2], v[3])), high = std::min(most, std::max(v[2], v[3]));
  return (low + high) / 2;
}

double at_lags(const CapacityMemory& memory, const AlignedLags::Lags& lags, int period, int ahead,
               double otherwise) {
  std::array<double, AlignedLags::kPeriods> v{};
  int n = 0;
  for (const int lag : lags) {
    if (lag <= 0) break;
    int64_t slot = memory.end() - 1 + ahead - lag;
    while (slot >= memory.end()) slot -= period;  // the horizon may be longer than a period
    if (slot < memory.begin()) break;
    v[static_cast<size_t>(n++)] = memory.at(slot);
  }
  return n > 0 ? median(v, n) : otherwise;
}

int rounded(double slots) { return static_cast<int>(slots + 0.5); }

}  // namespace

void Recurrence::work(const CapacityMemory& memory) {
  const double before = period();
  if (search_.work(memory) && period() != before) {
    for (int q = 0; q < AlignedLags::kPeriods; ++q)
      fixed_[static_cast<size_t>(q)] = rounded((q + 1) * period());
    if (period() <= 0) aligned_.restart();
  }
  if (known()) aligned_.work(memory, period());
}

double Recurrence::at_fixed_lags(const CapacityMemory& memory, int ahead, double otherwise) const {
  return known() ? at_lags(memory, fixed_, rounded(period()), ahead, otherwise) : otherwise;
}

double Recurrence::at_aligned_lags(const CapacityMemory& memory, int ahead, double otherwise) const {
  if (!known()) return otherwise;
  const AlignedLags::Lags& lags = aligned_.lags();
  return at_lags(memory, lags[0] > 0 ? lags : fixed_, rounded(period()), ahead, otherwise);
}

void Recurrence::restart() {
  search_.restart();
  aligned_.restart();
  fixed_ = {};
}

}  // namespace matchrdma
