#include "controlplane/estimator/budget_rule.h"

#include <gtest/gtest.h>

#include <memory>

namespace matchrdma {
namespace {

const Scale kScale{EstimatorSettings{}};  // target 300,000 bytes; 25,000 bytes a slot and Gb/s
constexpr Duration kNear = Duration::micros(5), kFar = Duration::millis(5);

double budget(double forecast, double waiting, Duration one_way = kNear) {
  return budget_for(forecast, waiting, one_way, false, kScale);
}

TEST(Budget, TheTargetQueueIsTheForecast) {
  EXPECT_DOUBLE_EQ(budget(60, 300'000), 60);
  EXPECT_DOUBLE_EQ(budget(60, 300'000, kFar), 60);
}

TEST(Budget, BelowTheTargetItFillsInFourSlots) {
  EXPECT_DOUBLE_EQ(budget(60, 200'000), 61);
  EXPECT_DOUBLE_EQ(budget(60, 200'000, kFar), 61) << "however far";
}

TEST(Budget, AboveTheTargetItTakesOneWayToDrain) {
  EXPECT_DOUBLE_EQ(budget(60, 1'300'000), 50);
  EXPECT_NEAR(budget(60, 1'300'000, kFar), 60 - 1.6, 1e-9);
}

TEST(Budget, WithinFloorAndLine) {
  EXPECT_DOUBLE_EQ(budget(60, 1e9), 1);
  EXPECT_DOUBLE_EQ(budget(60, 1e300), 1);
  EXPECT_DOUBLE_EQ(budget(100, 0), 100);
}

TEST(Budget, DrainingAimsAtNothing) {
  EXPECT_DOUBLE_EQ(budget_for(60, 0, kNear, true, kScale), 54);
  EXPECT_LT(budget_for(60, 100'000, kNear, true, kScale), 54);
}

TEST(Projection, CountsWhatIsInFlight) {
  auto g = std::make_unique<Governed>();
  for (int64_t k = 0; k < 5; ++k) g->say(k, 6, 80, 80, {});
  Curve curve(6);
  curve.rate.fill(60);
  // Slots 5 is governed by nothing and counts as forecast, 6 to 9 by 80: four times 20 Gb/s too much.
  curve.at_horizon = 60;
  EXPECT_DOUBLE_EQ(projected_queue(100'000, 4, curve, *g, kScale), 100'000 + 4 * 20 * 25'000.0);
}

TEST(Projection, AnEmptyQueueStaysEmpty) {
  auto g = std::make_unique<Governed>();
  for (int64_t k = 0; k < 60; ++k) g->say(k, 51, 50, 50, {});
  Curve curve(51);
  curve.rate.fill(90);
  curve.rate[49] = 40;  // only the last slot adds
  EXPECT_DOUBLE_EQ(projected_queue(1'000'000, 59, curve, *g, kScale), 10 * 25'000.0);
}

TEST(Curve, CoversEverySlotOnceWhateverTheHorizon) {
  for (int h = 1; h <= kMaxHorizon; ++h) {
    const Curve c(h);
    int slots = 0;
    ASSERT_LE(c.points(), Curve::kMaxPoints);
    for (int i = 0; i < c.points(); ++i) {
      ASSERT_GT(c.ahead_of(i), slots);
      slots += c.slots_of(i);
      ASSERT_LE(c.ahead_of(i), slots);
    }
    ASSERT_EQ(slots, h - 1);
    if (h <= Curve::kMaxPoints) {
      ASSERT_EQ(c.stride, 1);
    }
  }
}

TEST(Tested, TwiceTheHighestAckedRateDecaying) {
  TestedRate t(kScale);
  EXPECT_EQ(t.limit(), 25);
  t.observe(40, 1);
  EXPECT_EQ(t.limit(), 80);
  t.observe(0, 5000);
  EXPECT_NEAR(t.limit(), 80 / 2.718, 0.1) << "a second later";
  t.observe(0, 8192);
  EXPECT_EQ(t.limit(), 25);
}

TEST(Validity, SixteenSlotsOrFourMilliseconds) {
  EXPECT_EQ(budget_validity(Duration::micros(200)), Duration::millis(4));
  EXPECT_EQ(budget_validity(Duration::micros(500)), Duration::millis(8));
}

}  // namespace
}  // namespace matchrdma
