#include "controlplane/estimator/level.h"

#include <gtest/gtest.h>

namespace matchrdma {
namespace {

constexpr int kH = 6;
const Scale kScale{EstimatorSettings{}};

SlotRecord record(int64_t delay_us, uint64_t cnps = 0) {
  SlotRecord r{.packets = 1000, .cnp_count = cnps};
  r.ack_delay.add(Duration::micros(delay_us), Instant{});
  return r;
}

TEST(Level, ThresholdsOfDelayAndCnps) {
  constexpr double kMin = 10'000;
  EXPECT_EQ(level_of(record(14), kMin), CongestionLevel::kLow);
  EXPECT_EQ(level_of(record(15), kMin), CongestionLevel::kModerate);
  EXPECT_EQ(level_of(record(30), kMin), CongestionLevel::kModerate);
  EXPECT_EQ(level_of(record(31), kMin), CongestionLevel::kHigh);
  EXPECT_EQ(level_of(record(10, 1), kMin), CongestionLevel::kModerate);
  EXPECT_EQ(level_of(record(10, 10), kMin), CongestionLevel::kModerate);
  EXPECT_EQ(level_of(record(10, 11), kMin), CongestionLevel::kHigh);
}

TEST(Level, ASlotWithoutAcksTakesTheLastOneStale) {
  LevelTracker t;
  t.observe(record(40), 10'000);
  EXPECT_EQ(t.level(), CongestionLevel::kHigh);
  EXPECT_FALSE(t.stale());
  t.observe({}, 10'000);
  EXPECT_EQ(t.level(), CongestionLevel::kHigh);
  EXPECT_TRUE(t.stale());
}

TEST(DelayFloor, AStandingQueueDoesNotBecomeTheMinimum) {
  DelayFloor f(kScale);
  f.observe(record(10).ack_delay, 0, kH);
  int64_t slot = 1;
  for (; !f.draining() && slot < 100'000; ++slot) f.observe(record(40).ack_delay, slot, kH);
  EXPECT_EQ(f.ns(), 10'000);
  EXPECT_NEAR(static_cast<double>(slot), 50'000, 3) << "10 s";
}

TEST(DelayFloor, ADrainShowsTheMinimumAnew) {
  DelayFloor f(kScale);
  f.observe(record(10).ack_delay, 0, kH);
  int64_t slot = 1;
  for (; !f.draining(); ++slot) f.observe(record(40).ack_delay, slot, kH);
  const int64_t began = slot;
  for (; f.draining(); ++slot) f.observe(record(slot - began == 20 ? 18 : 30).ack_delay, slot, kH);
  EXPECT_EQ(slot - began, 2 * kH + 16);
  EXPECT_EQ(f.ns(), 18'000) << "the path has become longer";
  for (int i = 0; i < 40'000; ++i) f.observe(record(30).ack_delay, ++slot, kH);
  EXPECT_FALSE(f.draining()) << "once";
}

TEST(DelayFloor, SeenAgainThereIsNoDrain) {
  DelayFloor f(kScale);
  for (int64_t slot = 0; slot < 200'000; ++slot) {
    f.observe(record(slot % 40'000 == 0 ? 10 : 40).ack_delay, slot, kH);
    ASSERT_FALSE(f.draining());
  }
}

TEST(DelayFloor, NoTimeIsNoDelay) {
  DelayFloor f(kScale);
  f.observe(record(0).ack_delay, 0, kH);
  EXPECT_EQ(f.ns(), 0);
  f.observe(record(10).ack_delay, 1, kH);
  f.observe(record(0).ack_delay, 2, kH);
  EXPECT_EQ(f.ns(), 10'000);
}

}  // namespace
}  // namespace matchrdma
