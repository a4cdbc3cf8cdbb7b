#include "sim/swarm/run.h"

#include "sim/swarm/simplify.h"

namespace matchrdma::swarm {

Outcome run_schedule(const Options& o, const Capture& capture) {
  World w(o, capture);
  Outcome out;
  out.complaint = w.run();
  out.packets = w.packets();
  out.tally = w.tally();
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

}  // namespace matchrdma::swarm
