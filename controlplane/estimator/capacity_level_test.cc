#include "controlplane/estimator/capacity_level.h"

#include <gtest/gtest.h>

#include <vector>

namespace matchrdma {
namespace {

constexpr int kH = 6;
const Scale kScale{EstimatorSettings{}};

RateSample saturated(double r) { return {.kind = SampleKind::kSaturated, .rate = r, .acked = r}; }
RateSample censored(double acked, bool limited) { return {.rate = acked, .acked = acked, .limited = limited}; }

TEST(CapacityLevel, JumpsToAChangeAndSmoothsNoise) {
  CapacityLevel l(kScale, 50);
  EXPECT_TRUE(l.observe(saturated(80), 0, kH));
  EXPECT_EQ(l.c(), 80);
  EXPECT_FALSE(l.observe(saturated(88), 1, kH));
  EXPECT_EQ(l.c(), 82);
  EXPECT_TRUE(l.observe(saturated(30), 2, kH));
  EXPECT_EQ(l.c(), 30);
}

TEST(CapacityLevel, CensoredSlotsOnlyRaise) {
  CapacityLevel l(kScale, 50);
  l.observe(censored(20, false), 0, kH);
  EXPECT_EQ(l.c(), 50);
  l.observe(censored(55, false), 1, kH);
  EXPECT_EQ(l.c(), 55);
}

TEST(CapacityLevel, ProbesInDoublingStepsOnePerRoundTrip) {
  CapacityLevel l(kScale, 20);
  std::vector<double> raised;
  std::vector<int64_t> at;
  for (int64_t slot = 0; slot < 60; ++slot) {
    const double before = l.c();
    l.observe(censored(l.c() * 0.95, true), slot, kH);
    EXPECT_EQ(l.probed(), l.c() > before);
    if (!l.probed()) continue;
    raised.push_back(l.c() - before);
    at.push_back(slot);
  }
  ASSERT_GE(raised.size(), 6u);
  EXPECT_EQ(raised[0], 2);
  EXPECT_EQ(raised[1], 4);
  EXPECT_EQ(raised[2], 8);
  EXPECT_EQ(raised[3], 16);
  EXPECT_EQ(raised[4], 16);
  EXPECT_EQ(at[0], 1) << "two slots";
  for (size_t i = 1; i < at.size(); ++i) EXPECT_EQ(at[i] - at[i - 1], kH + 2);
  EXPECT_LE(l.c(), 100);
}

TEST(CapacityLevel, ASaturatedSlotStartsTheProbeAnew) {
  CapacityLevel l(kScale, 20);
  for (int64_t slot = 0; slot < 20; ++slot) l.observe(censored(l.c(), true), slot, kH);
  EXPECT_GT(l.step(), 2);
  l.observe(saturated(40), 20, kH);
  EXPECT_EQ(l.step(), 2);
}

TEST(CapacityLevel, NoDemandNoProbe) {
  CapacityLevel l(kScale, 20);
  for (int64_t slot = 0; slot < 100; ++slot) l.observe(censored(5, false), slot, kH);
  EXPECT_EQ(l.c(), 20);
}

}  // namespace
}  // namespace matchrdma
