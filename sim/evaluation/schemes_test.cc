// The other schemes at work, end to end (SIMULATOR 6).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "sim/evaluation/world.h"
#include "sim/workload/closed_loop.h"

namespace matchrdma::sim {
namespace {

constexpr int64_t kMessage = 128 << 10;
constexpr uint64_t kMessages = 64;

/// A host on each side.
WorldSettings small(LongHaul scheme, int64_t km = 100) {
  WorldSettings s;
  s.topology = {.km = km, .hosts_per_leaf = 1, .leaves = 1, .spines = 1};
  s.scheme = scheme;
  return s;
}

/// What became of 64 messages from host 0 to host 1.
struct Loop {
  explicit Loop(const WorldSettings& settings, uint32_t outstanding = 4)
      : world(settings),
        load(world.network(), {.message_bytes = kMessage, .outstanding = outstanding, .messages = kMessages},
             {{0, 1}}) {
    load.open([&](uint32_t a, uint32_t b) { return world.open(a, b); });
    EXPECT_TRUE(world.settle());
    load.start();
    EventCore& events = world.network().events();
    const SimTime end = events.now() + SimSpan::micros(5'000'000);
    while (!load.done() && events.next_due() <= end && events.run_one()) {
    }
    for (const MessageRecord& m : load.messages()) {
      slowest_ack = std::max(slowest_ack, m.acknowledged - m.posted);
      quickest_delivery = std::min(quickest_delivery, m.delivered - m.posted);
    }
  }
  const SendQp& sender() { return world.network().host(0).sender(0); }
  World world;
  ClosedLoop load;
  SimSpan slowest_ack{}, quickest_delivery{INT64_MAX};
};

void expect_complete(Loop& r) {
  EXPECT_TRUE(r.load.done());
  EXPECT_EQ(r.load.messages().size(), kMessages);
  EXPECT_EQ(r.load.delivered_bytes(0), static_cast<int64_t>(kMessages) * kMessage);
  EXPECT_FALSE(r.sender().failed());
}

TEST(PseudoAckWorld, CompletesAtTheSenderWithoutTheDistance) {
  Loop r(small(LongHaul::kPseudoAck));
  expect_complete(r);
  EXPECT_LT(r.slowest_ack, SimSpan::micros(100));  // the round trip is 1000 us
  EXPECT_GT(r.quickest_delivery, fibre(100));
  EXPECT_EQ(r.sender().sent_again(), 0);
}

TEST(PseudoAckWorld, RepairsLossOnTheSpanBehindTheSender) {
  for (const double loss : {3e-3, 3e-2}) {
    WorldSettings s = small(LongHaul::kPseudoAck);
    s.topology.loss = loss;
    Loop r(s);
    expect_complete(r);
    EXPECT_GT(r.world.network().lost_frames(), 0u);
    EXPECT_EQ(r.sender().sent_again(), 0);
    EXPECT_LT(r.slowest_ack, SimSpan::micros(100));
  }
}

TEST(PseudoAckWorld, RepairsAFlap) {
  WorldSettings s = small(LongHaul::kPseudoAck);
  const SimTime from = SimTime{} + SimSpan::micros(200);
  s.topology.down = {{from, from + SimSpan::micros(3000)}};
  Loop r(s);
  expect_complete(r);
  EXPECT_EQ(r.sender().sent_again(), 0);
}

TEST(ThemisWorld, CompletesWithTheDistance) {
  Loop r(small(LongHaul::kThemis));
  expect_complete(r);
  for (const MessageRecord& m : r.load.messages()) EXPECT_GT(m.acknowledged - m.posted, fibre(200));
}

TEST(ThemisWorld, RepairsLossOnTheSpan) {
  WorldSettings s = small(LongHaul::kThemis);
  s.topology.loss = 3e-3;
  Loop r(s);
  expect_complete(r);
  EXPECT_GT(r.sender().sent_again(), 0);
}

}  // namespace
}  // namespace matchrdma::sim
