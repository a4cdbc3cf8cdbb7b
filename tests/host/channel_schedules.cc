// Random schedules of channels over the model fabric: every message once, in order, with the right bytes, or
// the seed that shows otherwise.
#include <sstream>

#include "tests/host/channel_draw.h"
#include "tests/host/schedule_line.h"

int main(int argc, char** argv) {
  using namespace matchrdma::host::test;
  CLI::App app{"Random schedules of channels over the model fabric. Exit 1: a seed failed."};
  ScheduleLine line(app);
  bool no_fence = false, half_fence = false, on_completion = false;
  app.add_flag("--no-fence", no_fence, "buffers go at the error of a queue pair, the old one is not failed");
  app.add_flag("--sender-only-fence", half_fence, "who is asked for a fence says it is done and does nothing");
  app.add_flag("--retire-on-completion", on_completion, "a completion counts as arrival");
  CLI11_PARSE(app, argc, argv);
  uint64_t messages = 0, unknown = 0, lives = 0;
  matchrdma::host::ChannelCounters all;
  const auto play = [&](uint64_t seed) -> std::string {
    ChannelRigSettings s = draw_channel(seed);
    s.channel.faults = {no_fence, half_fence, on_completion};
    ChannelRig rig(s);
    const std::string wrong = rig.run();
    messages += rig.delivered();
    lives += rig.lives();
    unknown += rig.app(0).unknown_atomics() + rig.app(1).unknown_atomics();
    add(all, rig.totals());
    if (wrong.empty()) return {};
    std::ostringstream why;
    why << wrong << "\n"
        << s.load.connections << " connections of " << s.load.messages << " messages up to "
        << s.load.most_bytes << " bytes, loss " << s.path[0].loss << " and " << s.path[1].loss << ", custody "
        << s.custody[0] << s.custody[1] << ", TCP way " << s.pipe << ", mishaps";
    for (const ChannelMishap& m : s.mishaps)
      why << " " << static_cast<int>(m.what) << "@" << m.at.ns / 1000 << "us/" << m.end;
    return why.str();
  };
  const auto sum = [&] {
    std::ostringstream all_of_it;
    all_of_it << messages << " messages, each once and right; posted " << all.small << " small, " << all.large
              << " large, " << all.over_pipe << " over TCP; " << lives << " lives, " << all.fences
              << " fences, " << all.path_stalls << " stalls, " << all.replayed << " begun again, "
              << all.returns << " returns to RDMA, " << all.torn_counters << " torn counters seen, " << unknown
              << " atomics unknown";
    return all_of_it.str();
  };
  return line.run(play, sum);
}
