#include "controlplane/estimator/forecast.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "controlplane/estimator/governed.h"

namespace matchrdma {
namespace {

const Scale kScale{EstimatorSettings{}};
constexpr size_t kStable = 0, kAligned = 1, kFixed = 2, kJitter = 3;

RateSample saturated(double r) { return {.kind = SampleKind::kSaturated, .rate = r, .acked = r}; }
RateSample censored(double acked) { return {.rate = acked, .acked = acked, .limited = true}; }

class ForecastTest : public ::testing::Test {
 protected:
  void learn(int slots, const RateSample& s, const Predictions& said) {
    for (int i = 0; i < slots; ++i) {
      memory_->push(s.rate);
      if (with_period_) recurrence_->work(*memory_);
      forecast_.learn(s, &said, outlook());
    }
  }
  Outlook outlook() const { return {memory_.get(), recurrence_.get(), 70}; }
  std::unique_ptr<CapacityMemory> memory_ = std::make_unique<CapacityMemory>();
  std::unique_ptr<Recurrence> recurrence_ = std::make_unique<Recurrence>(kScale);
  Forecast forecast_{kScale, 50};
  bool with_period_ = false;
};

TEST_F(ForecastTest, WeightsAreEarnedByOwnErrors) {
  Predictions said{};
  said[kStable] = 90;
  said[kJitter] = 61;
  learn(5000, saturated(60), said);
  EXPECT_NEAR(forecast_.errors()[kStable], 30, 0.5);
  EXPECT_NEAR(forecast_.errors()[kJitter], 1, 0.5);
  EXPECT_GT(forecast_.weights()[kJitter], 0.999);
  EXPECT_NEAR(std::accumulate(forecast_.weights().begin(), forecast_.weights().end(), 0.0), 1, 1e-9);
  // (e + 0.5 % of line)^-4
  const double a = forecast_.errors()[kStable] + 0.5, b = forecast_.errors()[kJitter] + 0.5;
  EXPECT_NEAR(forecast_.weights()[kStable] / forecast_.weights()[kJitter], (b * b * b * b) / (a * a * a * a),
              1e-9);
}

TEST_F(ForecastTest, CensoredSlotsCountTheShortfallOnly) {
  Predictions said{};
  said[kStable] = 90;  // nobody can tell that this is wrong
  said[kJitter] = 20;
  learn(5000, censored(40), said);
  EXPECT_LT(forecast_.errors()[kStable], 0.1);
  EXPECT_NEAR(forecast_.errors()[kJitter], 20, 0.5);
}

TEST_F(ForecastTest, WithoutAPeriodNothingRecurs) {
  learn(1, saturated(60), {});
  EXPECT_EQ(forecast_.weights()[kAligned], 0);
  EXPECT_EQ(forecast_.weights()[kFixed], 0);
}

TEST_F(ForecastTest, RecurrentPredictorsJoinWithAPeriod) {
  for (int i = 0; i < 9000; ++i) {
    memory_->push(i % 250 < 125 ? 90 : 30);
    recurrence_->work(*memory_);
  }
  Predictions said{};
  said[kAligned] = said[kFixed] = 90;
  with_period_ = true;
  memory_->push(90);
  forecast_.learn(saturated(90), &said, outlook());
  EXPECT_GT(forecast_.weights()[kAligned], 0);
  EXPECT_GT(forecast_.weights()[kFixed], 0);
}

TEST_F(ForecastTest, JitterIsTheMeanOf100Ms) {
  learn(500, saturated(80), {});
  EXPECT_NEAR(forecast_.predict(1, outlook())[kJitter], 80 - 30 / 2.718, 0.1);
  EXPECT_EQ(forecast_.predict(1, outlook())[kStable], 70);
}

TEST(Governed, ABudgetGovernsTheArrivalsOfSlotKPlusH) {
  auto g = std::make_unique<Governed>();
  for (int64_t k = 0; k < 3000; ++k) {
    EXPECT_EQ(g->budget(k), k >= 51 ? static_cast<double>(k - 51) : 0);
    g->say(k, 51, static_cast<double>(k), 10 + static_cast<double>(k % 7), {});
    EXPECT_EQ(g->forecast(k + 51, -1), 10 + static_cast<double>(k % 7));
  }
}

TEST(Governed, ALongerWayLeavesTheOldBudgetBetween) {
  auto g = std::make_unique<Governed>();
  g->say(0, 2, 40, 40, {});
  g->say(1, 5, 60, 60, {});
  EXPECT_EQ(g->budget(2), 40);
  EXPECT_EQ(g->budget(5), 40);
  EXPECT_EQ(g->budget(6), 60);
  Predictions p;
  EXPECT_FALSE(g->predictions(5, p)) << "nobody predicted that slot";
  EXPECT_TRUE(g->predictions(6, p));
}

TEST(Governed, AShorterWayLetsTheNewestGovern) {
  auto g = std::make_unique<Governed>();
  for (int64_t k = 0; k < 5; ++k) g->say(k, 10, 40, 40, {});
  g->say(5, 3, 70, 70, {});
  EXPECT_EQ(g->budget(8), 70);
  EXPECT_EQ(g->budget(14), 70);
  EXPECT_EQ(g->budget(15), 0);
}

}  // namespace
}  // namespace matchrdma
