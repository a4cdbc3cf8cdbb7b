#include "tests/schedules/run.h"

#include "tests/schedules/world.h"

namespace matchrdma::schedules {

Outcome run_schedule(const Options& o, const std::string& capture_dir) {
  World w(o, capture_dir);
  Outcome out;
  out.complaint = w.run();
  out.packets = w.packets();
  return out;
}

Options shrink(Options o) {
  const auto steps = simplifications();
  bool simpler = true;
  for (int round = 0; simpler && round < 12; ++round) {
    simpler = false;
    for (const auto& step : steps) {
      Options candidate = o;
      if (!step(candidate) || run_schedule(candidate).complaint.empty()) continue;
      o = candidate;
      simpler = true;
    }
  }
  return o;
}

}  // namespace matchrdma::schedules
