// Random schedules of flowcell over the model fabric: every byte right, or the seed that shows otherwise.
#include <CLI/CLI.hpp>
#include <iostream>

#include "tests/host/flowcell_draw.h"

int main(int argc, char** argv) {
  using namespace matchrdma::host::test;
  CLI::App app{"Random schedules of flowcell over the model fabric. Exit 1: a seed failed."};
  uint64_t count = 10'000, first = 1, one = 0;
  bool no_fence = false, expect_failure = false;
  app.add_option("--count", count, "how many")->capture_default_str();
  app.add_option("--seed", first, "the first")->capture_default_str();
  app.add_option("--one", one, "this seed alone");
  app.add_flag("--no-key-fence", no_fence, "keys that were removed go on working: stale cells are written");
  app.add_flag("--expect-failure", expect_failure, "exit 0 when a seed fails, 1 when none does");
  CLI11_PARSE(app, argc, argv);
  if (one != 0) {
    first = one;
    count = 1;
  }
  uint64_t messages = 0, failed = 0, suspected = 0, duplicates = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    FlowcellRigSettings s = draw_flowcell(seed);
    s.nic.keys_never_end = no_fence;
    FlowcellRig rig(s);
    const std::string wrong = rig.run();
    messages += rig.delivered();
    const auto& n = rig.a().sender().counters();
    failed += n.failed;
    suspected += n.suspected;
    duplicates += n.duplicates;
    if (wrong.empty()) continue;
    const auto& o = s.flowcell;
    std::cout << "seed " << seed << ": " << wrong << "\n"
              << o.shape.paths << " paths, cells " << o.least_cell << " to " << o.most_cell
              << ", message up to " << s.traffic.most_bytes << ", slots " << o.shape.slots << ", receive queue "
              << o.receive_queue << ", events " << s.events.size() << ", restarts " << s.restarts
              << ", path failures " << n.failed << ", suspicions " << n.suspected << "\n";
    return expect_failure ? 0 : 1;
  }
  std::cout << count << " schedules, " << messages << " messages, every byte right; paths were suspected "
            << suspected << " times and failed " << failed << " times, " << duplicates
            << " cells were sent again\n";
  return expect_failure ? 1 : 0;
}
