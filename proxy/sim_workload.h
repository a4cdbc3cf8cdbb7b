#pragma once
// What `matchrdma sim` posts: chosen by name, or read from a file.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sim/evaluation/measure.h"

namespace matchrdma {

/// What was typed.
struct SimWorkloadArguments {
  std::string workload = "loop";  ///< loop, mixed, an example's name, or a file
  std::string message = "64KiB", outstanding = "16", load = "50%", iterations = "3", scale, jitter = "0",
              pattern = "mirror", site_a;
};

/// A workload that can be made anew for every scheme.
struct SimWorkload {
  std::string words;  ///< what it is, for people
  bool ends = false;  ///< by itself
  std::function<std::unique_ptr<sim::Workload>(sim::World&)> make;
};

/// loop, mixed, training or capture.
std::string workload_kind(const std::string& workload);
/// Reads the file where one is named. Ends the command when something is wrong, with option, value and remedy.
SimWorkload parse_sim_workload(const SimWorkloadArguments& a, uint64_t seed);

}  // namespace matchrdma
