// Events per second of the simulator on one core: the event core alone, a line that is never congested, and
// senders that fill a long link until PFC and DCQCN hold them. Memory stands for a fibre of 1000 km.
#include <chrono>
#include <cstdio>
#include <vector>

#include "dataplane/base/prng.h"
#include "sim/closed_loop.h"
#include "sim/network.h"

namespace matchrdma::sim {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
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
  const Clock::time_point start = Clock::now();
  while (core.executed() < kEvents) core.run_one();
  std::printf("event core, %5zu pending          %6.1f M events/s\n", pending, 20 / seconds_since(start));
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
  ClosedLoop load(net, {.message_bytes = 1 << 20, .outstanding = 64});
  SenderSettings sender;
  sender.reaction = ReactionSettings::hpcc();
  for (uint32_t pair = 0; pair < line.pairs; ++pair)
    for (uint32_t qp = 0; qp < line.qps; ++qp) load.start(net.open(pair, line.pairs + pair, sender, {}));

  const Clock::time_point start = Clock::now();
  net.events().run_until(SimTime{static_cast<int64_t>(kVirtualSeconds * 1e12)});
  const double seconds = seconds_since(start);
  int64_t bytes = 0;
  for (size_t f = 0; f < load.flows(); ++f) bytes += load.times(f).delivered_bytes;
  std::printf("%-34s %6.1f M events/s, %5.2f M packets/s, %5.1f Gb/s delivered, %zu packets in memory\n",
              line.name, static_cast<double>(net.events().executed()) / seconds / 1e6,
              static_cast<double>(bytes) / sender.mtu / seconds / 1e6,
              static_cast<double>(bytes) * 8 / kVirtualSeconds / 1e9, net.packets().capacity());
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
}
