#pragma once
// Runs one schedule, and makes a failing one as simple as it can be while it fails.
#include <string>

#include "sim/swarm/world.h"

namespace matchrdma::swarm {

struct Outcome {
  std::string complaint;  ///< empty: every invariant held
  uint64_t packets = 0;
  Tally tally;
};
Outcome run_schedule(const Options& o, const Capture& capture = {});
Options shrink(Options o);

}  // namespace matchrdma::swarm
