// Random schedules of channels over the model fabric: every message once, in order, with the right bytes, or
// the seed that shows otherwise.
#include <CLI/CLI.hpp>
#include <iostream>

#include "tests/host/channel_draw.h"

int main(int argc, char** argv) {
  using namespace matchrdma::host::test;
  CLI::App app{"Random schedules of channels over the model fabric. Exit 1: a seed failed."};
  uint64_t count = 10'000, first = 1, one = 0;
  bool no_fence = false, half_fence = false, on_completion = false, expect_failure = false;
  app.add_option("--count", count, "how many")->capture_default_str();
  app.add_option("--seed", first, "the first")->capture_default_str();
  app.add_option("--one", one, "this seed alone");
  app.add_flag("--no-fence", no_fence, "buffers go at the error of a queue pair, the old one is not failed");
  app.add_flag("--sender-only-fence", half_fence, "who is asked for a fence says it is done and does nothing");
  app.add_flag("--retire-on-completion", on_completion, "a completion counts as arrival");
  app.add_flag("--expect-failure", expect_failure, "exit 0 when a seed fails, 1 when none does");
  CLI11_PARSE(app, argc, argv);
  if (one != 0) {
    first = one;
    count = 1;
  }
  uint64_t messages = 0, unknown = 0, lives = 0;
  matchrdma::host::ChannelCounters all;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    ChannelRigSettings s = draw_channel(seed);
    s.channel.faults = {no_fence, half_fence, on_completion};
    ChannelRig rig(s);
    const std::string wrong = rig.run();
    messages += rig.delivered();
    lives += rig.lives();
    unknown += rig.app(0).unknown_atomics() + rig.app(1).unknown_atomics();
    const auto& n = rig.totals();
    all.small += n.small;
    all.large += n.large;
    all.over_pipe += n.over_pipe;
    all.fences += n.fences;
    all.path_stalls += n.path_stalls;
    all.replayed += n.replayed;
    all.returns += n.returns;
    all.torn_counters += n.torn_counters;
    if (wrong.empty()) continue;
    std::cout << "seed " << seed << ": " << wrong << "\n"
              << s.load.connections << " connections of " << s.load.messages << " messages up to "
              << s.load.most_bytes << " bytes, loss " << s.path[0].loss << " and " << s.path[1].loss
              << ", custody " << s.custody[0] << s.custody[1] << ", TCP way " << s.pipe << ", mishaps";
    for (const ChannelMishap& m : s.mishaps)
      std::cout << " " << static_cast<int>(m.what) << "@" << m.at.ns / 1000 << "us/" << m.end;
    std::cout << "\n";
    return expect_failure ? 0 : 1;
  }
  std::cout << count << " schedules, " << messages << " messages, each once and right; posted " << all.small
            << " small, " << all.large << " large, " << all.over_pipe << " over TCP; " << lives << " lives, "
            << all.fences << " fences, " << all.path_stalls << " stalls, " << all.replayed << " begun again, "
            << all.returns << " returns to RDMA, " << all.torn_counters << " torn counters seen, " << unknown
            << " atomics unknown\n";
  return expect_failure ? 1 : 0;
}
