#include "sim/fattree/flowcell_path.h"

#include <gtest/gtest.h>

namespace matchrdma::sim {
namespace {

constexpr double kLine = 100e9;
constexpr int64_t kCell = 64 << 10;
constexpr FlowcellRule kRule{.mtu = 1024, .least_cell = kCell, .least_floor = Duration::millis(2)};
const Instant kStart{1'000'000};

Duration of_line(int64_t bytes) { return {static_cast<int64_t>(static_cast<double>(bytes) * 8e9 / kLine)}; }

TEST(FlowcellPath, WithoutASampleItExpectsTheBytesTimeAlone) {
  FlowcellPath p(kRule, kLine);
  EXPECT_EQ(p.expected(kCell, kStart, kStart), of_line(kCell));
  EXPECT_EQ(p.cell_bytes(), kCell);
}

TEST(FlowcellPath, ExpectsRoundTripAndAllThatStandsBefore) {
  FlowcellPath p(kRule, kLine);
  const Duration base = Duration::micros(12);
  const CellPost c = p.post(kCell, kStart);
  const Instant token = kStart + base + of_line(kCell) + Duration::micros(1);
  p.token(c, Duration::micros(1), token, true);  // of which the receiver held it 1 us
  EXPECT_EQ(p.outstanding(), 0);
  EXPECT_EQ(p.average(), base + of_line(kCell));
  EXPECT_EQ(p.expected(kCell, token, token), base + of_line(kCell));
  p.post(kCell, token);
  EXPECT_EQ(p.expected(1000, token, token), base + of_line(kCell + 1000));
}

TEST(FlowcellPath, TheRateIsTheSpacingOfTokensOfOneQueue) {
  FlowcellPath p(kRule, kLine);
  Instant now = kStart;
  CellPost waiting = p.post(kCell, now);
  for (int i = 0; i < 40; ++i) {  // two outstanding all the time, a token each 4 times of the line
    const CellPost next = p.post(kCell, now);
    now = now + of_line(4 * kCell);
    p.token(waiting, {}, now, true);
    waiting = next;
  }
  EXPECT_NEAR(p.rate(), kLine / 4, kLine / 1000);
}

TEST(FlowcellPath, ALoneCellSaysNothingOfTheRate) {
  FlowcellPath p(kRule, kLine);
  Instant now = kStart;
  for (int i = 0; i < 10; ++i) {
    const CellPost c = p.post(kCell, now);
    now = now + Duration::micros(100);
    p.token(c, {}, now, true);
    now = now + Duration::micros(1);
  }
  EXPECT_EQ(p.rate(), kLine);
}

TEST(FlowcellPath, CongestionIsForgottenAfterAWhile) {
  FlowcellPath p(kRule, kLine);
  Instant now = kStart;
  for (const int64_t us : {18, 118}) {
    const CellPost c = p.post(kCell, now);
    now = now + Duration::micros(us);
    p.token(c, {}, now, true);
  }
  const Duration fresh = p.expected(kCell, now, now);
  EXPECT_EQ(fresh, Duration::micros(118));
  const Instant later_on = now + kRule.memory;
  EXPECT_NEAR(static_cast<double>((p.expected(kCell, later_on, later_on) - Duration::micros(18)).ns),
              1e5 / 2.718, 50);
  const Instant much_later = now + kRule.memory * 1000;
  EXPECT_NEAR(static_cast<double>(p.expected(kCell, much_later, much_later).ns), 18'000, 100);
}

TEST(FlowcellPath, WhatIsOverdueCountsWithoutAToken) {
  FlowcellPath p(kRule, kLine);
  const CellPost c = p.post(kCell, kStart);
  p.token(c, {}, kStart + Duration::micros(18), true);
  const Instant posted = kStart + Duration::micros(20), now = posted + Duration::millis(1);
  p.post(kCell, posted);
  EXPECT_EQ(p.expected(1000, posted, now), Duration::millis(1) + of_line(1000));
}

TEST(FlowcellPath, CopiesAreNoSamples) {
  FlowcellPath p(kRule, kLine);
  const CellPost c = p.post(kCell, kStart);
  p.token(c, {}, kStart + Duration::millis(5), false);
  EXPECT_EQ(p.outstanding(), 0);
  EXPECT_EQ(p.average(), Duration{});
  EXPECT_EQ(p.expected(kCell, kStart, kStart), of_line(kCell));
}

TEST(FlowcellPath, CellsAreWholePacketsBetweenTheBounds) {
  // 25 ms of light at 100 Gb/s: a quarter of it would be 78 MB.
  for (const auto& [ms, want] : {std::pair<int64_t, int64_t>{1, 3'108'616}, {25, 8 << 20}}) {
    FlowcellPath p(kRule, kLine);
    const CellPost c = p.post(kCell, kStart);
    p.token(c, {}, kStart + Duration::millis(ms), true);
    EXPECT_EQ(p.cell_bytes() % kRule.mtu, 0);
    EXPECT_NEAR(static_cast<double>(p.cell_bytes()), static_cast<double>(want), 1024);
  }
  FlowcellPath near(kRule, kLine);
  const CellPost c = near.post(kCell, kStart);
  near.token(c, {}, kStart + Duration::micros(18), true);
  EXPECT_EQ(near.cell_bytes(), kRule.least_cell);
}

TEST(FlowcellPath, TSoftHasAFloorForSteadyPaths) {
  FlowcellPath p(kRule, kLine);
  Instant now = kStart;
  for (int i = 0; i < 100; ++i) {
    const CellPost c = p.post(kCell, now);
    now = now + Duration::micros(20);
    p.token(c, {}, now, true);
  }
  EXPECT_EQ(p.average(), Duration::micros(20));
  EXPECT_EQ(p.t_soft(), Duration::micros(20) + kRule.least_floor);
  // One far off: gains 1/8 and 1/4.
  const CellPost c = p.post(kCell, now);
  p.token(c, {}, now + Duration::millis(8), true);
  EXPECT_NEAR(static_cast<double>(p.average().ns), 20e3 + 7.98e6 / 8, 10);
  EXPECT_NEAR(static_cast<double>(p.t_soft().ns), 20e3 + 7.98e6 / 8 + 4 * (7.98e6 / 4), 200);
}

}  // namespace
}  // namespace matchrdma::sim
