#pragma once
// Runs one schedule, and makes a failing one as simple as it can be while it fails.
#include <string>

#include "tests/schedules/options.h"

namespace matchrdma::schedules {

struct Outcome {
  std::string complaint;  ///< empty: every invariant held
  uint64_t packets = 0;
};
Outcome run_schedule(const Options& o, const std::string& capture_dir = {});
Options shrink(Options o);

}  // namespace matchrdma::schedules
