#pragma once
// One point of a figure: a world, a workload, and what comes of them.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/evaluation/measure.h"
#include "sim/workload/aicb_workload.h"
#include "sim/workload/closed_loop.h"
#include "sim/workload/mixed_workload.h"

namespace matchrdma::sim {

/// What is posted (SIMULATOR 5).
struct LoadSpec {
  enum class Kind : uint8_t {
    kLeafPairs,   ///< W1: one pair for each leaf, so that no two share a cable
    kHostPairs,   ///< W1: one pair for each host; what they share is up to ECMP
    kMixed,       ///< W3
    kIterations,  ///< W2
  };
  Kind kind = Kind::kHostPairs;
  ClosedLoopSettings loop{};
  MixedSettings mixed{};
  AicbSettings iterations{};
};

/// Figures of one run by their names, in order.
using Values = std::vector<std::pair<std::string, double>>;

struct Case {
  std::string figure, series;  ///< where it is drawn
  double x = 0;
  WorldSettings world{};
  LoadSpec load{};
  Window window{};
};

/// Runs it to the end. What was not reached (the proxies did not come up, a workload did not end) is
/// "complete" 0.
Values run_case(const Case& c);

}  // namespace matchrdma::sim
