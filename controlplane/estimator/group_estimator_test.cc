#include "controlplane/estimator/group_estimator.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "controlplane/estimator/test_receiver.h"
#include "dataplane/base/prng.h"

namespace matchrdma {
namespace {

constexpr Duration kSpan = Duration::micros(500), kNear = Duration::micros(5);
constexpr int kH = 6;

std::unique_ptr<GroupEstimator> group(Scheme scheme = Scheme::kEarned) {
  return std::make_unique<GroupEstimator>(EstimatorSettings{.scheme = scheme}, GroupSeed{.c = 50}, 0);
}

const SlotOutput& close(GroupEstimator& g, const SlotRecord& r, int64_t slot, Duration one_way = kSpan) {
  return g.grant(g.observe(r, slot, one_way), budget_validity(Duration::micros(200)));
}

TEST(GroupEstimator, FindsAConstantCapacity) {
  auto g = group();
  TestReceiver rx(kH);
  for (int64_t slot = 0; slot < 3000; ++slot) rx.budget(close(*g, rx.slot(60), slot).why.granted);
  const SlotWhy& why = g->output().why;
  EXPECT_NEAR(why.c, 60, 0.5);
  EXPECT_NEAR(why.granted, 60, 1);
  EXPECT_EQ(why.window, WindowKind::kStable);
  EXPECT_TRUE(why.sample.saturated());
  EXPECT_LT(rx.queue(), 600'000);
  EXPECT_EQ(g->output().budget.seq, 3000u);
  EXPECT_EQ(g->output().budget.validity, Duration::millis(4));
}

TEST(GroupEstimator, LearnsAPeriodAndItsWindowsRecur) {
  auto g = group();
  TestReceiver rx(kH);
  double error = 0;
  int recurrent = 0;
  for (int64_t slot = 0; slot < 12'000; ++slot) {
    const auto capacity = [](int64_t s) { return s % 250 < 125 ? 90.0 : 30.0; };
    const SlotOutput& out = close(*g, rx.slot(capacity(slot)), slot);
    rx.budget(out.why.granted);
    if (slot < 10'000) continue;
    error += std::fabs(out.why.forecast - capacity(slot + kH)) / 60 / 2000;
    recurrent += out.why.window == WindowKind::kRecurrent ? 1 : 0;
  }
  EXPECT_NEAR(g->output().why.period, 250, 1);
  EXPECT_LT(error, 0.03);
  EXPECT_GT(recurrent, 1000);
}

TEST(GroupEstimator, IdleTimesNeitherLowerNorInventCapacity) {
  auto g = group();
  TestReceiver rx(kH);
  for (int64_t slot = 0; slot < 4000; ++slot) {
    rx.budget(close(*g, rx.slot(60, slot % 250 < 125 ? 100 : 2), slot).why.granted);
  }
  EXPECT_EQ(g->output().why.period, 0) << "the demand's period is not the capacity's";
  EXPECT_NEAR(g->output().why.forecast, 60, 2);
}

TEST(GroupEstimator, AnIdleSenderCannotBurstIntoWhatNobodyTested) {
  auto g = group();
  TestReceiver rx(kH);
  int64_t slot = 0;
  for (; slot < 2000; ++slot) rx.budget(close(*g, rx.slot(90), slot).why.granted);
  for (; slot < 22'000; ++slot) rx.budget(close(*g, rx.slot(90, 5), slot).why.granted);
  EXPECT_NEAR(g->output().why.c, 90, 2) << "nothing contradicts it";
  EXPECT_EQ(g->output().why.tested, 25);
  EXPECT_LE(g->output().why.granted, 28) << "and what fills the target queue";
}

TEST(GroupEstimator, ProjectsWhatIsInFlight) {
  auto g = group();
  TestReceiver rx(kH);
  int64_t slot = 0;
  for (; slot < 2000; ++slot) rx.budget(close(*g, rx.slot(90), slot).why.granted);
  // The capacity falls: kH slots of 90 Gb/s are still to come.
  rx.budget(close(*g, rx.slot(30), slot++).why.granted);
  const SlotWhy& why = g->output().why;
  EXPECT_NEAR(why.projected - why.queue, (kH - 1) * (90 - why.forecast) * 25'000, 0.1 * why.projected);
  EXPECT_LT(why.granted, why.forecast);
}

TEST(GroupEstimator, DrainsOnceToSeeTheLeastDelay) {
  auto g = group();
  SlotRecord r{.arrived_bytes = 1'000'000, .acked_bytes = 1'000'000, .egress_bytes = 1'000'000};
  r.ack_delay.add(Duration::micros(10), Instant{});
  close(*g, r, 0);
  r.ack_delay = {};
  r.ack_delay.add(Duration::micros(14), Instant{});
  int64_t drained = 0;
  for (int64_t slot = 1; slot < 60'000; ++slot) drained += close(*g, r, slot).why.draining ? 1 : 0;
  EXPECT_EQ(drained, 2 * kH + 16);
  EXPECT_EQ(g->output().why.min_delay_ns, 14'000);
}

TEST(GroupEstimator, TheDestinationsMemoryIsBounded) {
  EXPECT_LT(group()->bytes(), 512u * 1024);
  EXPECT_LT(group(Scheme::kPaper)->bytes(), 512u * 1024);
}

/// A slot of 60 Gb/s, and then 50 us at another rate with that much waiting.
struct Turned {
  std::unique_ptr<GroupEstimator> g = group();
  SlotRecord recent;
  explicit Turned(double gbps, uint64_t backlog = 500'000, Duration one_way = kNear) {
    TestReceiver rx(1);
    for (int64_t slot = 0; slot < 500; ++slot) rx.budget(close(*g, rx.slot(60), slot, one_way).why.granted);
    recent.backlog_bytes = backlog;
    recent.acked_bytes = recent.busy_acked_bytes = static_cast<uint64_t>(gbps * 50'000 / 8);
    recent.busy_ns = 50'000;
    recent.packets = 10;
    recent.cnp_count = 1;
    recent.ack_delay.add(Duration::micros(200), Instant{});
  }
  std::optional<GrantedBudget> order(Duration one_way = kNear) {
    return g->tighten(recent, Duration::micros(50), one_way);
  }
};

TEST(Tighten, TurnedHighTheBudgetFallsWithinTheSlot) {
  Turned t(20);
  const auto order = t.order();
  ASSERT_TRUE(order);
  EXPECT_EQ(order->rate, Rate{20'000'000'000});
  EXPECT_EQ(order->seq, 501u);
  EXPECT_FALSE(t.order()) << "once per slot";
  TestReceiver rx(1);
  close(*t.g, rx.slot(60), 500, kNear);
  EXPECT_EQ(t.g->output().budget.seq, 502u);
}

TEST(Tighten, NotOverALongSpan) {
  Turned t(20, 500'000, kSpan);
  EXPECT_FALSE(t.order(Duration::micros(100))) << "2D is a slot: the next budget is as early";
  EXPECT_TRUE(t.order(Duration::micros(99)));
}

TEST(Tighten, NotForALittle) {
  EXPECT_FALSE(Turned(55).order()) << "nearly the budget";
  Turned few(20, 0);
  few.recent.ack_delay = {};
  few.recent.ack_delay.add(Duration::micros(60), Instant{});
  EXPECT_FALSE(few.order()) << "125 KB may stand there";
  Turned low(20);
  low.recent.cnp_count = 0;
  low.recent.ack_delay = {};
  low.recent.ack_delay.add(Duration::micros(20), Instant{});
  EXPECT_FALSE(low.order()) << "not High";
}

TEST(Tighten, NotInTheLowPartOfASlotBeforeARise) {
  Turned t(20);
  t.g = group();
  TestReceiver rx(1);
  const auto capacity = [](int64_t s) { return s % 250 < 125 ? 90.0 : 30.0; };
  int64_t slot = 0;
  const auto play = [&](int64_t end) {
    for (; slot < end; ++slot) rx.budget(close(*t.g, rx.slot(capacity(slot)), slot, kNear).why.granted);
  };
  play(10'200);  // in the middle of a low half
  EXPECT_TRUE(t.order());
  play(10'249);  // slot 10249 is the last low one
  EXPECT_FALSE(t.order());
}

TEST(Tighten, NotBelowTheFloor) { EXPECT_EQ(Turned(0).order()->rate, Rate{1'000'000'000}); }

/// Nonsense of every kind.
SlotRecord hostile(Prng& p) {
  const auto count = [&]() -> uint64_t {
    switch (p.below(5)) {
      case 0:
        return 0;
      case 1:
        return std::numeric_limits<uint64_t>::max() - p.below(3);
      case 2:
        return p.next();
      default:
        return p.below(5'000'000);
    }
  };
  SlotRecord r{.arrived_bytes = count(),
               .acked_bytes = count(),
               .egress_bytes = count(),
               .backlog_bytes = count(),
               .packets = count(),
               .cnp_count = count(),
               .acked_ns = count(),
               .busy_ns = count(),
               .busy_acked_bytes = count(),
               .held_ns = count(),
               .held_bytes = count(),
               .unacked_bytes = count(),
               .covered_ns = count()};
  r.ack_delay = {.count = count(), .sum_ns = count(), .min_ns = count(), .max_ns = count(), .last_ns = count()};
  return r;
}

void expect_sane(const SlotOutput& out, int64_t slot) {
  const SlotWhy& w = out.why;
  std::vector<double> all{w.c,         w.forecast,     w.queue,  w.projected,   w.wanted,       w.granted,
                          w.tested,    w.min_delay_ns, w.period, w.sample.rate, w.sample.acked, w.governing,
                          w.probe_step};
  all.insert(all.end(), w.predictions.begin(), w.predictions.end());
  all.insert(all.end(), w.errors.begin(), w.errors.end());
  all.insert(all.end(), w.weights.begin(), w.weights.end());
  for (const double v : all) ASSERT_TRUE(std::isfinite(v) && v >= 0) << "slot " << slot;
  ASSERT_GE(w.granted, 1.0) << "slot " << slot;
  ASSERT_LE(w.granted, 100.0) << "slot " << slot;
  ASSERT_GE(out.budget.rate, Rate{1'000'000'000});
  ASSERT_LE(out.budget.rate, Rate{100'000'000'000});
}

class HostileTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(HostileTest, BudgetStaysWithinFloorAndLine) {
  Prng p(GetParam());
  const Scheme scheme = std::array{Scheme::kEarned, Scheme::kPaper, Scheme::kLast}[GetParam() % 3];
  auto g = group(scheme);
  int64_t slot = -1;
  Duration one_way = kSpan;
  for (int i = 0; i < 20'000; ++i) {
    slot += p.chance(0.98) ? 1 : p.between(-3, p.chance(0.02) ? 1'000'000'000'000 : 3000);
    if (p.chance(0.01))
      one_way = Duration::nanos(p.chance(0.1) ? static_cast<int64_t>(p.next() >> 1) : p.between(0, 20'000'000));
    close(*g, p.chance(0.7) ? hostile(p) : SlotRecord{}, slot, one_way);
    expect_sane(g->output(), slot);
    if (scheme == Scheme::kLast) {
      ASSERT_EQ(g->output().why.forecast, g->output().why.c);
    }
    if (p.chance(0.1)) g->tighten(hostile(p), Duration::nanos(p.between(-5, 200'000)), kNear);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, HostileTest, ::testing::Range<uint64_t>(1, 9));

TEST(GroupEstimator, TheSameRecordsGiveTheSameBudgets) {
  auto a = group(), b = group();
  Prng p(5), q(5);
  for (int64_t slot = 0; slot < 10'000; ++slot) {
    close(*a, hostile(p), slot);
    close(*b, hostile(q), slot);
    ASSERT_EQ(a->output().budget.rate, b->output().budget.rate);
    ASSERT_EQ(a->output().why.forecast, b->output().why.forecast);
  }
}

TEST(GroupEstimator, ASlotThatIsNotNewerChangesNothing) {
  auto g = group();
  TestReceiver rx(kH);
  for (int64_t slot = 0; slot < 100; ++slot) rx.budget(close(*g, rx.slot(60), slot).why.granted);
  const SlotWhy before = g->output().why;
  EXPECT_EQ(g->observe({.acked_bytes = 1}, 99, kSpan), before.wanted);
  EXPECT_EQ(g->observe({.acked_bytes = 1}, 3, kSpan), before.wanted);
  EXPECT_EQ(g->output().why.c, before.c);
}

TEST(GroupEstimator, MissingSlotsKeepThePeriod) {
  auto g = group();
  TestReceiver rx(kH);
  const auto capacity = [](int64_t s) { return s % 250 < 125 ? 90.0 : 30.0; };
  int64_t slot = 0;
  for (; slot < 10'000; ++slot) rx.budget(close(*g, rx.slot(capacity(slot)), slot).why.granted);
  slot += 250 + 60;
  double error = 0;
  for (int i = 0; i < 250; ++i, ++slot) {
    rx.budget(close(*g, rx.slot(capacity(slot)), slot).why.granted);
    error += std::fabs(g->output().why.forecast - capacity(slot + kH)) / 60 / 250;
  }
  EXPECT_LT(error, 0.1);
  EXPECT_NEAR(g->output().why.period, 250, 1);
}

TEST(GroupEstimator, AfterALongGapOnlyTheLevelIsLeft) {
  auto g = group();
  TestReceiver rx(kH);
  int64_t slot = 0;
  for (; slot < 10'000; ++slot) rx.budget(close(*g, rx.slot(slot % 250 < 125 ? 90.0 : 30.0), slot).why.granted);
  EXPECT_GT(g->output().why.period, 0);
  close(*g, rx.slot(60), slot + 1'000'000);
  EXPECT_EQ(g->output().why.period, 0);
}

TEST(GroupEstimator, TheDelayMayChange) {
  auto g = group();
  TestReceiver near(kH);
  int64_t slot = 0;
  for (; slot < 2000; ++slot) near.budget(close(*g, near.slot(60), slot).why.granted);
  TestReceiver far(51);
  for (; slot < 4000; ++slot) far.budget(close(*g, far.slot(60), slot, Duration::millis(5)).why.granted);
  EXPECT_EQ(g->output().why.horizon, 51);
  EXPECT_NEAR(g->output().why.granted, 60, 1);
  EXPECT_NEAR(g->output().why.governing, 60, 1);
}

}  // namespace
}  // namespace matchrdma
