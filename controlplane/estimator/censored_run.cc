#include "controlplane/estimator/censored_run.h"

#include <algorithm>
#include <cmath>

namespace matchrdma {
namespace {

constexpr double kAgrees = 0.85;  // of the highest acked rate: then it was this capacity all along
constexpr double kEdge = 0.2;     // of the forecast
// Slots after an edge that keep the higher rate, so that the edge cannot creep earlier.
constexpr int64_t kExplored = 2;

}  // namespace

bool CensoredRun::differs(double forecast) const {
  return std::fabs(forecast - edge_forecast_) > kEdge * edge_forecast_ + least_edge_;
}

void CensoredRun::observe(const RateSample& s, int64_t slot, double forecast, bool recurrent,
                          CapacityMemory& memory) {
  if (s.saturated()) {
    if (start_ >= 0) settle(s.rate, slot, recurrent, memory);
    start_ = -1;
    return;
  }
  if (start_ < 0) {
    start_ = slot;
    highest_ = 0;
  }
  highest_ = std::max(highest_, s.acked);
  if (start_ == slot || differs(forecast)) {
    edge_ = slot;
    edge_forecast_ = forecast;
    edge_highest_ = 0;
  }
  edge_highest_ = std::max(edge_highest_, s.acked);
}

void CensoredRun::settle(double r, int64_t slot, bool recurrent, CapacityMemory& memory) const {
  if (r >= kAgrees * highest_) {
    for (int64_t i = std::max(start_, memory.begin()); i < slot; ++i) memory.set(i, std::max(memory.at(i), r));
  }
  if (recurrent && !differs(r) && r >= kAgrees * edge_highest_) {
    for (int64_t i = std::max(edge_ + kExplored, memory.begin()); i < slot; ++i) memory.set(i, r);
  }
}

}  // namespace matchrdma
