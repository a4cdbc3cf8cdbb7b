// Nodes together: routes, pauses, loss, closed loops.
#include "sim/network.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/workload/closed_loop.h"

namespace matchrdma::sim {
namespace {

constexpr Rate k100G{100'000'000'000};
const LinkSpec kCable{};

struct Shape {
  int64_t km = 1;
  uint32_t near_hosts = 1, far_hosts = 1;
  FrameSizes frames = kRoceFrames;
  BufferSettings buffer{};
  HostSettings host{};
};

/// Two switches with a long link of 100 Gb/s between them.
struct TwoSwitches {
  explicit TwoSwitches(const Shape& shape) : net(shape.frames, Tick{}) {
    for (const uint64_t seed : {1, 2}) net.add_switch({shape.buffer, seed});
    long_port = net.join_switches(0, 1, {k100G, fibre(shape.km)}, EcnSettings::hpcc(k100G));
    for (uint32_t h = 0; h < shape.near_hosts + shape.far_hosts; ++h)
      net.join_host(net.add_host(shape.host), h < shape.near_hosts ? 0 : 1, kCable, EcnSettings::hpcc(k100G));
    net.route();
  }
  void run_until_us(int64_t us) { net.events().run_until(SimTime{} + SimSpan::micros(us)); }
  Network net;
  uint32_t long_port = 0;
};

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

void start(Network& net, ClosedLoop& load, const SenderSettings& sender = {},
           const ReceiverSettings& receiver = {}) {
  load.open([&](uint32_t a, uint32_t b) { return net.open(a, b, sender, receiver); });
  load.start();
}

void run(Network& net, const ClosedLoop& load) {
  while (!load.done() && net.events().run_one()) {
  }
}

TEST(Network, BaseRttIsThatOfThemis) {
  Network net(kHpccFrames, Tick{1000});
  for (uint32_t s = 0; s < 6; ++s) net.add_switch({});
  const Rate k400G{400'000'000'000}, k1600G{1'600'000'000'000};
  const SimSpan us = SimSpan::micros(1);
  for (uint32_t h = 0; h < 2; ++h) net.join_host(net.add_host({}), h == 0 ? 0 : 5, kCable, {});
  net.join_switches(0, 1, {k100G, us}, {});
  net.join_switches(1, 2, {k400G, us}, {});
  net.join_switches(2, 3, {k1600G, fibre(100)}, {});
  net.join_switches(3, 4, {k400G, us}, {});
  net.join_switches(4, 5, {k100G, us}, {});
  net.route();
  EXPECT_EQ(net.base_rtt(0, 1, 1000), SimSpan::nanos(1'012'365));  // SIMULATOR 0
  EXPECT_EQ(net.base_rtt(1, 0, 1000), SimSpan::nanos(1'012'365));
  EXPECT_EQ(net.bdp_bytes(0, 1, 1000), 12'654'562);  // SIMULATOR 2: 12.65 MB
}

TEST(Network, FlowsSpreadOverEqualPaths) {
  Network net(kRoceFrames, Tick{});
  for (uint32_t s = 0; s < 6; ++s) net.add_switch({});  // leaves 0 and 1, spines 2 to 5
  for (uint32_t h = 0; h < 2; ++h) net.join_host(net.add_host({}), h, kCable, {});
  for (uint32_t spine = 2; spine < 6; ++spine)
    for (uint32_t leaf = 0; leaf < 2; ++leaf) net.join_switches(leaf, spine, kCable, {});
  net.route();
  ClosedLoop load(net, {.message_bytes = 100'000, .outstanding = 1, .messages = 1}, Pairs(64, {0, 1}));
  start(net, load);
  run(net, load);
  EXPECT_TRUE(load.done());
  for (uint32_t spine = 2; spine < 6; ++spine) {
    const int64_t peak = net.switch_node(spine).queues(1).peak_bytes();
    EXPECT_GT(peak, 0) << spine;
    EXPECT_EQ(net.switch_node(spine).stats().drops, 0u);
  }
}

TEST(Network, DistanceCostsNoEvents) {
  uint64_t events[2];
  for (int far = 0; far < 2; ++far) {
    TwoSwitches t({.km = far == 0 ? 1 : 1000});
    ClosedLoop load(t.net, {.message_bytes = 8 << 20, .outstanding = 1, .messages = 1}, {{0, 1}});
    start(t.net, load);
    run(t.net, load);
    events[far] = t.net.events().executed();
    EXPECT_LT(t.net.events().pending(), 20u);
  }
  EXPECT_NEAR(static_cast<double>(events[1]), static_cast<double>(events[0]), 10);
}

TEST(Network, MemoryStopsGrowing) {
  TwoSwitches t({.km = 100});
  ClosedLoop load(t.net, {.message_bytes = 1 << 20, .outstanding = 16}, {{0, 1}});
  start(t.net, load);
  t.run_until_us(5'000);
  const size_t warm = t.net.packets().capacity();
  t.run_until_us(30'000);
  EXPECT_EQ(t.net.packets().capacity(), warm);
}

TEST(ClosedLoop, IsLimitedByWhatIsOutstanding) {
  // A message is posted when another completes, so C of them come back each round trip and one message's own
  // time.
  constexpr int64_t kMessage = 128 << 10;
  for (const uint32_t outstanding : {1u, 4u, 16u}) {
    TwoSwitches t({.km = 1000});
    ClosedLoop load(t.net, {.message_bytes = kMessage, .outstanding = outstanding}, {{0, 1}});
    start(t.net, load, {.mtu = 4096});
    t.run_until_us(200'000);
    const double limit = outstanding * kMessage * 8 / (10'004e-6 + kMessage * 8 / 98e9) / 1e9;
    EXPECT_NEAR(static_cast<double>(load.acknowledged_bytes(0)) * 8 / 0.2 / 1e9, limit, 0.06 * limit);
    ASSERT_GT(load.messages().size(), 10u);
    const MessageRecord& m = load.messages()[5];
    EXPECT_NEAR((m.acknowledged - m.delivered).us(), 5002, 1);  // the way back
  }
}

TEST(Pfc, HoldsTheSenderBackWithoutLoss) {
  const BufferSettings small{.bytes = 1 << 20};
  TwoSwitches t({.km = 1, .near_hosts = 2, .far_hosts = 2, .buffer = small});
  ClosedLoop load(t.net, {.message_bytes = 4 << 20, .outstanding = 1, .messages = 1}, {{0, 2}, {1, 3}});
  start(t.net, load);
  run(t.net, load);
  const SwitchNode& near = t.net.switch_node(0);
  EXPECT_TRUE(load.done());
  EXPECT_EQ(near.stats().drops, 0u);
  EXPECT_GT(near.stats().pauses, 10u);
  EXPECT_EQ(near.stats().pauses, near.stats().resumes);
  EXPECT_EQ(near.buffer().used(), 0);
  EXPECT_LT(near.buffer().peak(), 1 << 20);
  for (uint32_t h = 0; h < 2; ++h) {
    // Both send at line rate into half of it, so each stands still about half of the time.
    const double share = t.net.host(h).pauses().paused_for(kDataClass, t.net.now()).us() / t.net.now().us();
    EXPECT_NEAR(share, 0.5, 0.1);
    EXPECT_EQ(t.net.host(h).sender(0).sent_again(), 0);
  }
}

TEST(Pfc, TakesEffectOnArrival) {
  TwoSwitches t({.near_hosts = 2, .far_hosts = 1, .buffer = {.bytes = 1 << 20}});
  ClosedLoop load(t.net, {.message_bytes = 4 << 20, .outstanding = 1, .messages = 1}, {{0, 2}, {1, 2}});
  start(t.net, load);
  while (t.net.switch_node(0).stats().pauses == 0 && t.net.events().run_one()) {
  }
  const SimTime sent = t.net.now();
  const auto paused = [&] { return t.net.host(0).pauses().paused(3) || t.net.host(1).pauses().paused(3); };
  while (!paused() && t.net.events().run_one()) {
  }
  // A PFC frame and its gap last 6.72 ns, an ACK before it as long as it takes; then 1 us of cable.
  EXPECT_GE((t.net.now() - sent).ps, 1'006'720);
  EXPECT_LE((t.net.now() - sent).ps, 1'006'720 + 6'880);
}

TEST(Loss, IsRepairedByGoBackN) {
  // Without headroom packets are dropped before a PAUSE can act.
  TwoSwitches t({.near_hosts = 2, .far_hosts = 1, .buffer = {.bytes = 256 << 10, .headroom_delays = 0}});
  ClosedLoop load(t.net, {.message_bytes = 256 << 10, .outstanding = 4, .messages = 20}, {{0, 2}, {1, 2}});
  const SenderSettings sender{.timeout = SimSpan::micros(1000)};
  const ReceiverSettings receiver{.nack_gap = SimSpan::micros(50)};
  start(t.net, load, sender, receiver);
  run(t.net, load);
  EXPECT_TRUE(load.done());
  EXPECT_GT(t.net.switch_node(0).stats().drops, 0u);
  EXPECT_EQ(load.messages().size(), 40u);
  for (const MessageRecord& m : load.messages()) EXPECT_FALSE(m.delivered.is_never());
  for (uint32_t h = 0; h < 2; ++h) {
    EXPECT_GT(t.net.host(h).sender(0).sent_again(), 0);
    EXPECT_FALSE(t.net.host(h).sender(0).failed());
    EXPECT_EQ(load.delivered_bytes(h), 20 * (256 << 10));
  }
}

TEST(Host, ServesItsQpsInTurn) {
  TwoSwitches t({});
  ClosedLoop load(t.net, {.message_bytes = 64 << 10, .outstanding = 8}, Pairs(5, {0, 1}));
  start(t.net, load);
  t.run_until_us(2'000);
  for (size_t f = 1; f < 5; ++f)
    EXPECT_NEAR(static_cast<double>(load.delivered_bytes(f)), static_cast<double>(load.delivered_bytes(0)),
                1024);
}

/// Keeps the last frame it was sent.
class Ear final : public Node {
 public:
  void receive(SimPacket* p, uint32_t, SimTime) override { heard.push_back(p->kind); }
  std::vector<FrameKind> heard;
};

TEST(Host, ControlFramesWaitOnlyForTheirClass) {
  // ACKs in the data class stop while it is paused (no ACK_HIGH_PRIO), others do not.
  for (const uint8_t pause_class : {kControlClass, kDataClass}) {
    SimContext context;
    Ear ear;
    Link out(context, kCable, ear, 0);
    Host host(context, 0, {.control_pause_class = pause_class});
    host.attach(out);
    host.join_receiver(host.add_receiver({}), {.host = 1});
    const auto pfc = [&](bool pause) {
      SimPacket* p = context.packets.alloc();
      p->kind = FrameKind::kPfc;
      p->pause = pause;
      host.receive(p, 0, context.events.now());
    };
    pfc(true);
    SimPacket* data = context.packets.alloc();
    data->payload = 1000;
    host.receive(data, 0, context.events.now());
    context.events.run_until(SimTime{} + SimSpan::micros(10));
    EXPECT_EQ(ear.heard.size(), pause_class == kControlClass ? 1u : 0u);
    pfc(false);
    context.events.run_until(SimTime{} + SimSpan::micros(20));
    EXPECT_EQ(ear.heard, std::vector<FrameKind>{FrameKind::kAck});
  }
}

/// All that a run shows, as text.
std::string fingerprint(uint64_t seed) {
  Network net(kRoceFrames, Tick{});
  for (const uint64_t s : {seed, seed + 1}) net.add_switch({.seed = s});
  net.join_switches(0, 1, {k100G, fibre(10)}, EcnSettings::hpcc(k100G));
  for (uint32_t h = 0; h < 8; ++h)
    net.join_host(net.add_host({}), h < 4 ? 0 : 1, kCable, EcnSettings::hpcc(k100G));
  net.route();
  ClosedLoop load(net, {.message_bytes = 1 << 20, .outstanding = 2, .messages = 8},
                  {{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  start(net, load, {.reaction = ReactionSettings::hpcc()});
  run(net, load);
  std::string all = std::to_string(net.events().executed());
  for (const MessageRecord& m : load.messages()) all += ' ' + std::to_string(m.acknowledged.ps);
  return all;
}

TEST(Determinism, SameSeedSameRun) {
  const std::string first = fingerprint(3);
  EXPECT_GT(first.size(), 300u);
  EXPECT_EQ(first, fingerprint(3));
  EXPECT_NE(first, fingerprint(4));
}

}  // namespace
}  // namespace matchrdma::sim
