// The small parts: tokens and plans, estimates of a path, length of a cell, the window of a path.
#include <gtest/gtest.h>

#include <array>

#include "host/flowcell/cell_size.h"
#include "host/flowcell/path_meter.h"
#include "host/flowcell/token.h"
#include "host/flowcell/tracking_queue.h"

namespace matchrdma::host {
namespace {

using Place = std::array<uint8_t, kTokenBytes>;

Place placed(const CellToken& t, uint32_t epoch) {
  Place p{};
  encode_token(t, epoch, p);
  return p;
}

TEST(CellToken, ComesBackAsItWasWritten) {
  for (const CellToken& t : {CellToken{0, 1, Duration{}}, CellToken{UINT32_MAX, UINT32_MAX, Duration{17}},
                             CellToken{7, 9, Duration{UINT32_MAX}}})
    EXPECT_EQ(decode_token(placed(t, 3), 3), t);
  EXPECT_EQ(decode_token(placed({1, 1, Duration::seconds(60)}, 1), 1)->residence.ns, UINT32_MAX);
  EXPECT_EQ(decode_token(placed({1, 1, Duration{-5}}, 1), 1)->residence.ns, 0) << "clocks do not run back";
}

TEST(CellToken, OfAnotherEpochOrNoneIsNoToken) {
  const Place p = placed({5, 6, Duration{7}}, 2);
  EXPECT_FALSE(decode_token(p, 1));
  EXPECT_FALSE(decode_token(p, 3));
  for (uint32_t epoch = 1; epoch < 10'000; ++epoch) ASSERT_FALSE(decode_token(Place{}, epoch)) << epoch;
}

// H11: wherever memory shows a newer token up to, and an older one from there on.
TEST(CellToken, TwoHalvesOfTwoAreNone) {
  for (uint32_t lap = 0; lap < 2000; ++lap) {
    const Place before = placed({lap, lap, Duration{lap % 7 * 100}}, 1);
    const Place after = placed({lap + 64, lap + 64 + lap % 3, Duration{lap % 5 * 100}}, 1);
    for (const size_t cut : {4, 8, 12}) {
      Place torn = before;
      std::copy_n(after.begin(), cut, torn.begin());
      if (torn != before && torn != after) {
        ASSERT_FALSE(decode_token(torn, 1)) << lap << " cut at " << cut;
      }
    }
  }
}

TEST(CellPlan, ComesBackAsItWasWritten) {
  std::array<uint8_t, kPlanBytes> place{};
  const CellPlan p{0x0102030405060708, 0x1112131415161718, 0xa1a2a3a4};
  encode_plan(p, place);
  EXPECT_EQ(decode_plan(place), p);
  EXPECT_EQ(cells_of(1, 4096), 1u);
  EXPECT_EQ(cells_of(4096, 4096), 1u);
  EXPECT_EQ(cells_of(4097, 4096), 2u);
}

PathMeter meter(double gigabits = 8, Duration round_trip = Duration::millis(10)) {
  return PathMeter({static_cast<int64_t>(gigabits * 1e9)}, round_trip);
}

// H9 and papers/002: max(avg + 4 dev, avg + floor), floor = max(avg / 2, the least); gains 1/8 and beta = 1/4.
TEST(PathMeter, SoftTimeoutIsThePapersWithFloors) {
  const Duration least = Duration::millis(2);
  PathMeter m = meter();
  EXPECT_EQ(m.soft_timeout(least), Duration::seconds(1)) << "nothing is known";
  m.sample(Duration::millis(8), 0);  // avg 8, dev 4
  EXPECT_EQ(m.soft_timeout(least), Duration::millis(24));
  m.sample(Duration::millis(16), 0);  // dev 4 + (8 - 4) / 4 = 5, avg 8 + 8 / 8 = 9
  EXPECT_EQ(m.round_trip(), Duration::millis(9));
  EXPECT_EQ(m.soft_timeout(least), Duration::millis(29));
  for (int i = 0; i < 300; ++i) m.sample(Duration::millis(9), 0);
  EXPECT_NEAR(static_cast<double>(m.soft_timeout(least).ns), 13.5e6, 1e4) << "half of the average";
  EXPECT_NEAR(static_cast<double>(m.soft_timeout(Duration::millis(100)).ns), 109e6, 1e4) << "through proxies";
  PathMeter near = meter();
  for (int i = 0; i < 300; ++i) near.sample(Duration::micros(10), 0);
  EXPECT_NEAR(static_cast<double>(near.soft_timeout(least).ns), 2.01e6, 1e3) << "the least";
}

TEST(PathMeter, BaseIsTheLeastWithoutTheTimeOfTheCell) {
  PathMeter m = meter();  // a byte a nanosecond
  EXPECT_EQ(m.base(), Duration::millis(10));
  m.sample(Duration::millis(30), 1'000'000);
  EXPECT_EQ(m.base(), Duration::millis(29));
  m.sample(Duration::millis(12), 1'000'000);
  m.sample(Duration::millis(20), 1'000'000);
  EXPECT_EQ(m.base(), Duration::millis(11));
}

// A rate guessed too low makes a cell take longer than its round trip.
TEST(PathMeter, BaseIsNeverBelowNothing) {
  PathMeter m = meter(0.008);
  m.sample(Duration::millis(1), 100'000);  // 100 ms of the rate that was guessed
  EXPECT_EQ(m.base(), Duration{});
  EXPECT_EQ(m.window(1000), 2000u);
  m.sample(Duration{-5}, 0);  // what a peer may claim
  EXPECT_EQ(m.base(), Duration{});
}

TEST(PathMeter, RateIsMeasuredWhileThereIsWork) {
  PathMeter m = meter(100, Duration::millis(1));
  Instant t{5'000'000};
  m.came(123'456, t);  // from here on
  m.came(250'000, t + Duration::micros(200));
  EXPECT_EQ(m.rate().bps, 100'000'000'000) << "too short a span";
  m.came(250'000, t + Duration::micros(500));
  EXPECT_EQ(m.rate().bps, 8'000'000'000);
  m.came(1'000'000, t + Duration::micros(1000));  // 16 Gb/s, a quarter of the way
  EXPECT_EQ(m.rate().bps, 10'000'000'000);
  m.restart();
  m.came(77'000'000, t + Duration::seconds(9));
  EXPECT_EQ(m.rate().bps, 10'000'000'000) << "time without work does not count";
  m.came(1, t);  // a clock that a peer sets back
  EXPECT_EQ(m.rate().bps, 10'000'000'000);
}

TEST(PathMeter, WindowIsTwiceWhatThePathHolds) {
  PathMeter m = meter();
  EXPECT_EQ(m.window(1 << 20), 20'000'000u + (2u << 20));
  EXPECT_EQ(m.expected(0, 1000), Duration::millis(10) + Duration{1000});
  EXPECT_EQ(m.expected(5000, 1000), Duration::millis(10) + Duration{6000});
}

TEST(CellSize, QuarterOfARoundTripWithinLimits) {
  EXPECT_EQ(cell_size(16e6, 16e6, 4096, 64 << 10, 8 << 20), 8'000'000u / 4096 * 4096);
  EXPECT_EQ(cell_size(1e6, 16e6, 4096, 64 << 10, 8 << 20), 1'500'000u / 4096 * 4096) << "1.5 x BDP of the link";
  EXPECT_EQ(cell_size(1e3, 1e3, 4096, 64 << 10, 8 << 20), 64u << 10);
  EXPECT_EQ(cell_size(1e12, 1e12, 4096, 64 << 10, 8 << 20), 8u << 20);
  EXPECT_EQ(cell_size(1e3, 1e3, 4096, 100, 200), 4096u) << "one MTU at the least";
}

TEST(TrackingQueue, CountsWhatIsOutAndWhatIsBack) {
  TrackingQueue q;
  q.posted({.ref = {1, 0}, .bytes = 100, .posted = {}});
  q.posted({.ref = {1, 1}, .bytes = 30, .posted = {}});
  q.posted({.posted = {}, .probe = true});
  EXPECT_EQ(q.in_flight(), 130u);
  EXPECT_EQ(q.size(), 3u);
  EXPECT_EQ(q.pop().ref.cell, 0u);
  EXPECT_EQ(q.front().ref.cell, 1u);
  EXPECT_EQ(q.in_flight(), 30u);
  EXPECT_EQ(q.confirmed(), 1u);
  q.pop();
  EXPECT_TRUE(q.pop().probe);
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(q.in_flight(), 0u);
  EXPECT_EQ(q.confirmed(), 3u);
}

}  // namespace
}  // namespace matchrdma::host
