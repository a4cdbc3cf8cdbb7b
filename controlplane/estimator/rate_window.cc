#include "controlplane/estimator/rate_window.h"

#include <cmath>

namespace matchrdma {
namespace {

constexpr int64_t kStableSlots = 8;
constexpr double kVariation = 0.15;  // coefficient of variation, and how far a recurrent rate may be off

}  // namespace

void RateWindow::add(double rate, bool jump) {
  if (jump) end();
  ++n_;
  sum_ += rate;
  squares_ += rate * rate;
}

WindowKind RateWindow::kind(double before) const {
  if (n_ == 0) return WindowKind::kNone;
  const double variance = squares_ / static_cast<double>(n_) - mean() * mean();
  if (n_ < kStableSlots || variance > kVariation * kVariation * mean() * mean()) return WindowKind::kJitter;
  return before > 0 && std::fabs(before - mean()) <= kVariation * mean() ? WindowKind::kRecurrent
                                                                         : WindowKind::kStable;
}

}  // namespace matchrdma
