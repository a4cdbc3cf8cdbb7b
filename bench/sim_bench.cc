// Events per second of the simulator on one core: the event core alone, a line that is never congested, senders
// that fill a long link until PFC and DCQCN hold them, and 16 x 100 Gb/s over 1000 km with the real proxies.
#include <cstdio>
#include <ctime>
#include <vector>

#include "dataplane/base/prng.h"
#include "sim/evaluation/measure.h"
#include "sim/network.h"
#include "sim/workload/closed_loop.h"

namespace matchrdma::sim {
namespace {

/// Processor time of this thread: what others do meanwhile does not count.
double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

/// Schedules itself again, a while later.
class Echo final : public EventHandler {
 public:
  Echo(EventCore& core, uint64_t seed) : core_(core), prng_(seed) {}
  void on_event(SimTime now, uint64_t) override {
    core_.schedule(now + SimSpan{prng_.between(1, 1'000'000)}, *this);
  }

 private:
  EventCore& core_;
  Prng prng_;
};

void bare_core(size_t pending) {
  constexpr uint64_t kEvents = 20'000'000;
  EventCore core;
  std::vector<Echo> echoes;
  echoes.reserve(pending);
  for (size_t i = 0; i < pending; ++i) echoes.emplace_back(core, i).on_event(core.now(), 0);
  const double start = cpu_seconds();
  while (core.executed() < kEvents) core.run_one();
  std::printf("event core, %5zu pending          %6.1f M events/s\n", pending,
              kEvents / 1e6 / (cpu_seconds() - start));
}

struct Line {
  const char* name;
  uint32_t pairs, qps;
  int64_t km;
};

void network(const Line& line) {
  constexpr double kVirtualSeconds = 0.05;
  Network net(kRoceFrames, Tick{});
  for (uint64_t seed : {1, 2}) net.add_switch({.seed = seed});
  const LinkSpec cable{};
  net.join_switches(0, 1, {cable.rate, fibre(line.km)}, EcnSettings::hpcc(cable.rate));
  for (uint32_t h = 0; h < 2 * line.pairs; ++h)
    net.join_host(net.add_host({}), h < line.pairs ? 0 : 1, cable, EcnSettings::hpcc(cable.rate));
  net.route();
  SenderSettings sender;
  sender.reaction = ReactionSettings::hpcc();
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (uint32_t pair = 0; pair < line.pairs; ++pair)
    pairs.insert(pairs.end(), line.qps, {pair, line.pairs + pair});
  ClosedLoop load(net, {.message_bytes = 1 << 20, .outstanding = 64}, pairs);
  load.open([&](uint32_t a, uint32_t b) { return net.open(a, b, sender, {}); });
  load.start();

  const double start = cpu_seconds();
  net.events().run_until(SimTime{static_cast<int64_t>(kVirtualSeconds * 1e12)});
  const double seconds = cpu_seconds() - start;
  int64_t bytes = 0;
  for (size_t f = 0; f < load.flows(); ++f) bytes += load.delivered_bytes(f);
  std::printf("%-34s %6.1f M events/s, %5.2f M packets/s, %5.1f Gb/s delivered, %zu packets in memory\n",
              line.name, static_cast<double>(net.events().executed()) / seconds / 1e6,
              static_cast<double>(bytes) / sender.mtu / seconds / 1e6,
              static_cast<double>(bytes) * 8 / kVirtualSeconds / 1e9, net.packets().capacity());
}

// No two flows share a cable, so that all of 1.6 Tb/s crosses the long link.
void proxies() {
  WorldSettings s;
  s.topology.km = 1000;
  s.topology.leaf_spine = Rate{1'600'000'000'000};
  s.topology.spine_otn = Rate{1'600'000'000'000};
  World world(s);
  ClosedLoop load(world.network(), {.message_bytes = 4096, .outstanding = 256}, s.topology.partners());
  const Window window = Window::steady(s.topology.km);
  double start = 0, warm = (window.warm_up + window.length).us() / 1e6 - window.length.us() / 1e6;
  RunMetrics m;
  const bool up = run(world, load, window, m, [&](double done, double) {
    if (start == 0 && done > warm) start = cpu_seconds();
  });
  if (!up) return static_cast<void>(std::puts("the proxies did not come up"));
  std::printf(
      "16 x 100G, 1000 km, 4 KiB messages through real proxies: %.0f ms in %.2f s, %.1f Gb/s a pair "
      "delivered\n",
      m.seconds * 1e3, cpu_seconds() - start, m.delivered_gbps() / s.topology.hosts_per_site());
}

}  // namespace
}  // namespace matchrdma::sim

int main() {
  using namespace matchrdma::sim;
  for (const size_t pending : {16, 256, 4096}) bare_core(pending);
  network({"one pair, 1 QP, 1 km", 1, 1, 1});
  network({"one pair, 1 QP, 1000 km", 1, 1, 1000});
  network({"four pairs, 4 QPs, 1 km", 4, 4, 1});
  network({"four pairs, 4 QPs, 1000 km", 4, 4, 1000});
  proxies();
}
