#include "controlplane/estimator/recurrence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "dataplane/base/prng.h"

namespace matchrdma {
namespace {

const Scale kScale{EstimatorSettings{}};

/// 90 and 30 in turn, periods of so many slots.
double square(double slot, double period) { return std::fmod(slot, period) < period / 2 ? 90 : 30; }

struct Rig {
  std::unique_ptr<CapacityMemory> memory = std::make_unique<CapacityMemory>();
  std::unique_ptr<Recurrence> recurrence = std::make_unique<Recurrence>(kScale);
  void push(double rate) {
    memory->push(rate);
    recurrence->work(*memory);
  }
};

TEST(Period, FoundBetweenTheBins) {
  for (const double period : {50.0, 101.5, 250.0, 333.3, 1000.0}) {
    Rig r;
    for (int i = 0; i < 9000; ++i) r.push(square(i, period));
    EXPECT_NEAR(r.recurrence->period(), period, 1.5) << period;
  }
}

TEST(Period, TheSmallestThatIsNearlyAsGood) {
  Rig r;
  Prng p(3);
  for (int i = 0; i < 9000; ++i) r.push(square(i, 250) + 10 * p.unit());
  EXPECT_NEAR(r.recurrence->period(), 250, 2) << "not a multiple";
}

TEST(Period, NoneInWhatIsFlatOrRandom) {
  Rig flat, random;
  Prng p(4);
  double level = 90;
  for (int i = 0; i < 9000; ++i) {
    flat.push(60 + (i % 250 < 125 ? 3 : -3));  // 5 %
    if (p.chance(0.01)) level = 120 - level;
    random.push(level);
  }
  EXPECT_EQ(flat.recurrence->period(), 0);
  EXPECT_EQ(random.recurrence->period(), 0);
}

TEST(Period, ForgottenWhenItEnds) {
  Rig r;
  for (int i = 0; i < 9000; ++i) r.push(square(i, 250));
  EXPECT_TRUE(r.recurrence->known());
  for (int i = 0; i < 9000; ++i) r.push(60);
  EXPECT_FALSE(r.recurrence->known());
}

TEST(Recurrence, ForecastsTheNextPeriod) {
  Rig r;
  for (int i = 0; i < 9000; ++i) r.push(square(i, 250));
  int wrong = 0;
  for (int ahead = 1; ahead <= 600; ++ahead) {  // further than a period, too
    wrong += r.recurrence->at_fixed_lags(*r.memory, ahead, 0) != square(8999 + ahead, 250) ? 1 : 0;
    wrong += r.recurrence->at_aligned_lags(*r.memory, ahead, 0) != square(8999 + ahead, 250) ? 1 : 0;
  }
  EXPECT_LE(wrong, 16) << "of 1200, at edges";
}

TEST(Recurrence, AlignedLagsFollowAShiftedPeriod) {
  Rig r;
  int slot = 0;
  for (; slot < 8000; ++slot) r.push(square(slot, 250));
  const int shift = 20;  // the last period came late: 8 % of it
  for (int i = 0; i < shift; ++i) r.push(r.memory->back());
  for (int i = 0; i < 200; ++i, ++slot) r.push(square(slot, 250));
  int aligned = 0, fixed = 0;
  for (int ahead = 1; ahead <= 200; ++ahead) {
    const double truth = square(slot - 1 + ahead, 250);
    aligned += r.recurrence->at_aligned_lags(*r.memory, ahead, 0) != truth ? 1 : 0;
    fixed += r.recurrence->at_fixed_lags(*r.memory, ahead, 0) != truth ? 1 : 0;
  }
  EXPECT_LE(aligned, 4);
  EXPECT_GE(fixed, 15);
}

TEST(Recurrence, OneOddPeriodDoesNotCount) {
  Rig r;
  for (int i = 0; i < 9000; ++i) r.push(i / 250 == 34 ? 60 : square(i, 250));  // the last but one
  EXPECT_EQ(r.recurrence->at_fixed_lags(*r.memory, 20, 0), 90) << "median of four";
}

TEST(Recurrence, WithoutAPeriodItSaysWhatItIsGiven) {
  Rig r;
  for (int i = 0; i < 100; ++i) r.push(60);
  EXPECT_EQ(r.recurrence->at_fixed_lags(*r.memory, 5, 42), 42);
  EXPECT_EQ(r.recurrence->at_aligned_lags(*r.memory, 5, 42), 42);
}

}  // namespace
}  // namespace matchrdma
