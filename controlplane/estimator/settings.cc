#include "controlplane/estimator/settings.h"

#include <algorithm>

#include "dataplane/base/check.h"
#include "dataplane/flow/queue_target.h"

namespace matchrdma {

Scale::Scale(const EstimatorSettings& s)
    : slot_ns(static_cast<double>(s.slot.ns)),
      line(static_cast<double>(s.line_rate.bps) / 1e9),
      floor(line / 100),
      q_target(static_cast<double>(s.queue_target > 0 ? s.queue_target : usual_queue_target(s.line_rate))) {
  MRDMA_CHECK(s.slot > Duration{} && s.line_rate > Rate{});
}

int Scale::horizon(Duration one_way) const {
  const double slots = 2 * std::max(0.0, this->slots(one_way));
  return slots >= kMaxHorizon - 1 ? kMaxHorizon : static_cast<int>(slots) + 1;
}

}  // namespace matchrdma
