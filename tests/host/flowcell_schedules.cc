// Random schedules of flowcell over the model fabric: every byte right, or the seed that shows otherwise.
#include <sstream>

#include "tests/host/flowcell_draw.h"
#include "tests/host/schedule_line.h"

int main(int argc, char** argv) {
  using namespace matchrdma::host::test;
  CLI::App app{"Random schedules of flowcell over the model fabric. Exit 1: a seed failed."};
  ScheduleLine line(app);
  bool no_fence = false;
  app.add_flag("--no-key-fence", no_fence, "keys that were removed go on working: stale cells are written");
  CLI11_PARSE(app, argc, argv);
  uint64_t messages = 0, failed = 0, suspected = 0, duplicates = 0;
  const auto play = [&](uint64_t seed) -> std::string {
    FlowcellRigSettings s = draw_flowcell(seed);
    s.nic.keys_never_end = no_fence;
    FlowcellRig rig(s);
    const std::string wrong = rig.run();
    messages += rig.delivered();
    const auto& n = rig.a().sender().counters();
    failed += n.failed;
    suspected += n.suspected;
    duplicates += n.duplicates;
    if (wrong.empty()) return {};
    std::ostringstream why;
    const auto& o = s.flowcell;
    why << wrong << "\n"
        << o.shape.paths << " paths, cells " << o.least_cell << " to " << o.most_cell << ", message up to "
        << s.traffic.most_bytes << ", slots " << o.shape.slots << ", receive queue " << o.receive_queue
        << ", events " << s.events.size() << ", restarts " << s.restarts << ", path failures " << n.failed
        << ", suspicions " << n.suspected;
    return why.str();
  };
  const auto sum = [&] {
    std::ostringstream all_of_it;
    all_of_it << messages << " messages, every byte right; paths were suspected " << suspected
              << " times and failed " << failed << " times, " << duplicates << " cells were sent again";
    return all_of_it.str();
  };
  return line.run(play, sum);
}
