// scratch
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include "sim/fattree/comparison.h"
using namespace matchrdma::sim;
int main(int argc, char** argv) {
  FatTreeCase c;
  auto get = [&](const char* k, double d) {
    for (int i = 1; i + 1 < argc; ++i)
      if (!std::strcmp(argv[i], k)) return std::atof(argv[i + 1]);
    return d;
  };
  c.scheme = kBalancings[static_cast<int>(get("-s", 0))];
  c.load = get("-l", 0.8);
  c.seed = static_cast<uint64_t>(get("-r", 1));
  c.duration = SimSpan::micros(static_cast<int64_t>(get("-d", 3000)));
  if (get("-w", 0) > 0) c.sizes = kSolar2022;
  c.flowlet_gap = SimSpan::micros(static_cast<int64_t>(get("-g", 100)));
  c.sender.mtu = static_cast<uint32_t>(get("-m", 1024));
  c.flowcell.paths = static_cast<uint32_t>(get("-p", 8));
  c.flowcell.window = static_cast<int64_t>(get("-W", 256)) << 10;
  c.flowcell.rule.memory = matchrdma::Duration::micros(static_cast<int64_t>(get("-M", 200)));
  c.flowcell.rule.least_cell = static_cast<int64_t>(get("-c", 64)) << 10;
  if (get("-hp", 0) > 0) c.sender.reaction = ReactionSettings::hpcc();
  if (get("-pp", 0) > 0) c.sender.reaction = ReactionSettings::hpcc_paper();
  clock_t t0 = clock();
  auto r = run_fat_tree(c);
  double s = double(clock() - t0) / CLOCKS_PER_SEC;
  auto p = [](const char* n, const Fct& f) {
    std::printf(
        "  %-6s n %7zu unf %zu rx mean %8.2f p99 %9.2f us sl %6.2f %7.2f | tx mean %8.2f p99 %9.2f sl %6.2f "
        "%7.2f\n",
        n, f.receiver.messages, f.unfinished, f.receiver.mean_us, f.receiver.p99_us, f.receiver.mean_slowdown,
        f.receiver.p99_slowdown, f.sender.mean_us, f.sender.p99_us, f.sender.mean_slowdown,
        f.sender.p99_slowdown);
  };
  std::printf(
      "%s load %.1f: %.1f s, %.1f M events (%.1f M/s), drops %lu pauses %lu marks %lu again %ld susp %lu\n",
      balancing_name(c.scheme), c.load, s, double(r.events) / 1e6, double(r.events) / 1e6 / s, r.drops,
      r.pauses, r.marks, r.sent_again, r.suspected);
  p("all", r.all);
  p("small", r.small);
  p("large", r.large);
}
