#include "controlplane/estimator/sample.h"

#include <gtest/gtest.h>

#include <limits>

namespace matchrdma {
namespace {

const Scale kScale{EstimatorSettings{}};  // 200 us at 100 Gb/s: 2.5 MB

TEST(Sample, BusyTimeMeasuresTheCapacity) {
  const SlotRecord r{.acked_bytes = 500'000, .busy_ns = 20'000, .busy_acked_bytes = 150'000};
  const RateSample s = sample_of(r, 0, kScale);
  EXPECT_TRUE(s.saturated());
  EXPECT_DOUBLE_EQ(s.rate, 60);
  EXPECT_DOUBLE_EQ(s.acked, 20);
}

TEST(Sample, LessBusyTimeIsALowerBound) {
  const SlotRecord r{.acked_bytes = 500'000, .busy_ns = 19'999, .busy_acked_bytes = 150'000};
  const RateSample s = sample_of(r, 0, kScale);
  EXPECT_FALSE(s.saturated());
  EXPECT_DOUBLE_EQ(s.rate, 20);
}

TEST(Sample, OwnRateThatHoldsItBackIsTheCapacity) {
  SlotRecord r{.acked_bytes = 500'000, .acked_ns = 200'000, .held_ns = 150'000, .held_bytes = 750'000};
  EXPECT_DOUBLE_EQ(sample_of(r, 0, kScale).rate, 40);
  r.busy_ns = 170'000;  // ACKs of a slow host, in between
  r.busy_acked_bytes = 400'000;
  r.unacked_bytes = 400'000;
  EXPECT_DOUBLE_EQ(sample_of(r, 0, kScale).rate, 40);
  r.busy_ns = 200'000;  // or always, but it has what it was sent
  r.unacked_bytes = 300'000;
  EXPECT_DOUBLE_EQ(sample_of(r, 0, kScale).rate, 40);
}

// Else a receiver slower than that would be fed for ever.
TEST(Sample, AReceiverThatIsAlwaysLateIsSlowerThanOurOwnRate) {
  const SlotRecord r{.acked_bytes = 250'000,
                     .acked_ns = 200'000,
                     .busy_ns = 190'000,
                     .busy_acked_bytes = 237'500,
                     .held_ns = 150'000,
                     .held_bytes = 750'000,
                     .unacked_bytes = 400'000};
  EXPECT_DOUBLE_EQ(sample_of(r, 0, kScale).rate, 10);
}

TEST(Sample, LimitedByItsOwnBudget) {
  const SlotRecord r{.arrived_bytes = 450'000};  // 18 Gb/s
  EXPECT_TRUE(sample_of(r, 20, kScale).limited);
  EXPECT_FALSE(sample_of(r, 20.1, kScale).limited);
  EXPECT_FALSE(sample_of(r, 0, kScale).limited) << "no budget was there";
}

TEST(Sample, NoMoreThanTheLine) {
  constexpr auto kHuge = std::numeric_limits<uint64_t>::max();
  const RateSample s =
      sample_of({.acked_bytes = kHuge, .busy_ns = 20'000, .busy_acked_bytes = kHuge}, 0, kScale);
  EXPECT_EQ(s.rate, 100);
  EXPECT_EQ(s.acked, 100);
}

TEST(Scale, HorizonCountsTheSlotsInFlight) {
  EXPECT_EQ(kScale.horizon(Duration::micros(5)), 1);
  EXPECT_EQ(kScale.horizon(Duration::micros(99)), 1);
  EXPECT_EQ(kScale.horizon(Duration::micros(100)), 2);
  EXPECT_EQ(kScale.horizon(Duration::micros(500)), 6);
  EXPECT_EQ(kScale.horizon(Duration::millis(5)), 51);
  EXPECT_EQ(kScale.horizon(Duration::seconds(3600)), kMaxHorizon);
  EXPECT_EQ(kScale.horizon(Duration::millis(-5)), 1);
  EXPECT_DOUBLE_EQ(kScale.q_target, 300'000);
}

}  // namespace
}  // namespace matchrdma
