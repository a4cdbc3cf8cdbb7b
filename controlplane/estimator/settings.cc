#include "controlplane/estimator/settings.h"

#include <algorithm>

#include "dataplane/base/check.h"

namespace matchrdma {

Scale::Scale(const EstimatorSettings& s)
    : slot_ns(static_cast<double>(s.slot.ns)),
      line(static_cast<double>(s.line_rate.bps) / 1e9),
      floor(line / 100),
      q_target(s.queue_target > 0 ? static_cast<double>(s.queue_target) : line * 24'000 / 8) {
  MRDMA_CHECK(s.slot > Duration{} && s.line_rate > Rate{});
}

int Scale::horizon(Duration one_way) const {
  const double slots = 2 * std::max(0.0, this->slots(one_way));
  return slots >= kMaxHorizon - 1 ? kMaxHorizon : static_cast<int>(slots) + 1;
}

}  // namespace matchrdma
