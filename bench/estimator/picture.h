#pragma once
// A picture of chosen runs: capacity, forecast, budget and backlog over time.
#include <string>
#include <vector>

#include "bench/estimator/closed_loop.h"
#include "dataplane/base/result.h"

namespace matchrdma::estimator_bench {

struct Panel {
  std::string title;
  std::vector<LoopSlot> slots;
};

/// One above the other, as SVG.
Result<void> write_picture(const std::vector<Panel>& panels, const std::string& path);

}  // namespace matchrdma::estimator_bench
