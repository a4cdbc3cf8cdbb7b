#pragma once
// What runs of the simulator showed, for people and for machines.
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/evaluation/measure.h"

namespace matchrdma {

/// One scheme under one workload.
struct SimRun {
  sim::WorldSettings settings;
  bool ends = false;  ///< the workload, by itself
  sim::RunMetrics metrics;
  std::vector<sim::MessageRecord> messages;  ///< posted in the window
};

/// One column a run. `workload`: what was posted, for people.
void print_runs(std::ostream& out, const std::string& workload, const std::vector<SimRun>& runs);
nlohmann::ordered_json runs_json(const std::string& workload, const std::vector<SimRun>& runs);

}  // namespace matchrdma
