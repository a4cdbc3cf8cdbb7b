// A link that loses frames (SIMULATOR 11, "loss on the span, span flap").
#include "sim/link.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/network.h"
#include "sim/workload/closed_loop.h"

namespace matchrdma::sim {
namespace {

/// Keeps the numbers of what arrives.
class Ear final : public Node {
 public:
  explicit Ear(SimContext& context) : context_(context) {}
  void receive(SimPacket* p, uint32_t, SimTime) override {
    heard.push_back(p->seq);
    context_.packets.release(p);
  }
  std::vector<int64_t> heard;

 private:
  SimContext& context_;
};

/// Frames of 1250 bytes back to back: with 100 Gb/s and without gap, number n is on the line from n x 100 ns
/// on.
std::vector<int64_t> hear(const LinkSpec& spec, int64_t frames, FrameKind kind = FrameKind::kData) {
  SimContext context{.frames = kHpccFrames};
  Ear ear(context);
  Link link(context, spec, ear, 0);
  for (int64_t i = 0; i < frames; ++i) {
    context.events.run_until(link.free_at());
    SimPacket* p = context.packets.alloc();
    p->kind = kind;
    p->size = 1250;
    p->seq = i;
    link.send(p, context.events.now());
  }
  context.events.run_until(SimTime{} + SimSpan::micros(1'000'000));
  EXPECT_EQ(context.packets.in_use(), 0u);
  EXPECT_EQ(link.lost(), static_cast<uint64_t>(frames) - ear.heard.size());
  return ear.heard;
}

SimTime at_ns(int64_t ns) { return SimTime{} + SimSpan::nanos(ns); }

TEST(Link, LosesNothingUnlessTold) { EXPECT_EQ(hear({}, 1000).size(), 1000u); }

TEST(Link, LosesItsShare) {
  EXPECT_NEAR(static_cast<double>(hear({.loss = 0.01}, 100'000).size()), 99'000, 150);
  EXPECT_TRUE(hear({.loss = 1}, 10).empty());
}

TEST(Link, LosesTheSameWithTheSameSeed) {
  const std::vector<int64_t> first = hear({.loss = 0.1, .seed = 7}, 1000);
  EXPECT_EQ(first, hear({.loss = 0.1, .seed = 7}, 1000));
  EXPECT_NE(first, hear({.loss = 0.1, .seed = 8}, 1000));
}

TEST(Link, LosesWhatItIsGivenWhileDown) {
  // Number 2 is cut short at 250 ns, 4 begins before the light is back at 401 ns; what is under way arrives,
  // however long the fibre.
  const std::vector<DownTime> down{{at_ns(250), at_ns(401)}, {at_ns(700), at_ns(800)}};
  for (const int64_t km : {1, 1000})
    EXPECT_EQ(hear({.delay = fibre(km), .down = down}, 10), (std::vector<int64_t>{0, 1, 5, 6, 8, 9}));
}

TEST(Link, KeepsPauses) { EXPECT_EQ(hear({.loss = 1}, 10, FrameKind::kPfc).size(), 10u); }

TEST(Network, BothDirectionsOfACableLoseByThemselves) {
  Network net(kHpccFrames, Tick{});
  for (uint32_t s = 0; s < 2; ++s) net.add_switch({});
  net.join_switches(0, 1, {.loss = 0.1}, {});
  for (uint32_t h = 0; h < 2; ++h) net.join_host(net.add_host({}), h, {}, {});
  net.route();
  ClosedLoop load(net, {.message_bytes = 16'000, .outstanding = 1, .messages = 8}, {{0, 1}, {1, 0}});
  load.open([&](uint32_t a, uint32_t b) {
    return net.open(a, b, {.timeout = SimSpan::micros(100)}, {.nack_gap = SimSpan::micros(10)});
  });
  load.start();
  while (!load.done() && net.events().run_one()) {
  }
  EXPECT_TRUE(load.done());
  EXPECT_GT(net.lost_frames(), 10u);
  // All else is alike, so the same chance would bring both flows through at the same times.
  std::vector<SimTime> ends[2];
  for (const MessageRecord& m : load.messages()) ends[m.flow].push_back(m.acknowledged);
  EXPECT_NE(ends[0], ends[1]);
}

}  // namespace
}  // namespace matchrdma::sim
