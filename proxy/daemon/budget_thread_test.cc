#include "proxy/daemon/budget_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace matchrdma::daemon {
namespace {

Instant now() {
  static const auto origin = std::chrono::steady_clock::now();
  return Instant{std::chrono::nanoseconds(std::chrono::steady_clock::now() - origin).count()};
}

template <class Condition>
bool await(Condition c) {
  for (int i = 0; i < 20'000; ++i) {
    if (c()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

GroupSlot slot_at(Instant end, Duration length) {
  GroupSlot s{GroupKey{}, end.ns / length.ns - 1, true, {}};
  s.record.arrived_bytes = s.record.acked_bytes = s.record.egress_bytes = 100'000;
  s.record.covered_ns = static_cast<uint64_t>(length.ns);
  return s;
}

TEST(SpscRing, InOrderUntilItIsFull) {
  SpscRing<int> r(4);
  int out = 0;
  EXPECT_FALSE(r.pop(out));
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(r.push(i));
    EXPECT_FALSE(r.push(9));
    EXPECT_FALSE(r.empty());
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(r.pop(out));
      EXPECT_EQ(out, i);
    }
    EXPECT_TRUE(r.empty());
  }
}

TEST(SpscRing, BetweenTwoThreads) {
  SpscRing<uint64_t> r(64);
  constexpr uint64_t kAll = 200'000;
  std::thread writer([&r] {
    for (uint64_t i = 0; i < kAll;) {
      if (r.push(i)) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  uint64_t expected = 0, value = 0;
  while (expected < kAll) {
    if (!r.pop(value)) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(value, expected);
    ++expected;
  }
  writer.join();
}

struct BudgetThreadTest : ::testing::Test {
  static constexpr Duration kSlot = Duration::millis(2);
  std::atomic<int> woken{0};
  BudgetThread t{
      {{3, {kSlot, Rate{1'000'000'000}, Scheme::kEarned, 0}}}, 2, 16, now, [this](uint32_t) { ++woken; }};
};

TEST_F(BudgetThreadTest, LanesAreThoseOfItsSpans) {
  EXPECT_EQ(t.lane(0, 0), nullptr) << "budgets of that span are fixed";
  ASSERT_NE(t.lane(3, 0), nullptr);
  EXPECT_NE(t.lane(3, 0), t.lane(3, 1));
}

// It sleeps; what a worker puts into a lane wakes it, and what comes of it wakes the workers.
TEST_F(BudgetThreadTest, ARecordBecomesBudgetsOfAllWorkers) {
  ASSERT_TRUE(t.start().ok());
  for (int round = 0; round < 3; ++round) {
    BudgetLane& lane = *t.lane(3, 0);
    ASSERT_TRUE(lane.closed.push(slot_at(now(), kSlot)));
    t.told(false);
    ToldBudget first, second;
    ASSERT_TRUE(await([&] { return lane.budgets.pop(first); }));
    ASSERT_TRUE(await([&] { return t.lane(3, 1)->budgets.pop(second); }));
    EXPECT_EQ(first.budget.group, GroupKey{});
    EXPECT_GT(first.budget.rate.bps + second.budget.rate.bps, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));  // idle again after a second
    while (lane.budgets.pop(first) || t.lane(3, 1)->budgets.pop(second)) {
    }
  }
  EXPECT_GT(woken, 0);
  EXPECT_FALSE(t.history(3).empty());
  EXPECT_TRUE(t.history(0).empty());
  t.stop();
}

// Between slots (here of a minute) it sleeps, but not when a receiver is strained.
TEST(BudgetThread, AStrainedReceiverEndsTheSleep) {
  constexpr Duration kMinute = Duration::seconds(60);
  std::atomic<int64_t> clock{600'000'000'000};
  BudgetThread t(
      {{0, {kMinute, Rate{1'000'000'000}, Scheme::kEarned, 0}}}, 1, 16,
      [&clock] { return Instant{clock.load()}; }, [](uint32_t) {});
  BudgetLane& lane = *t.lane(0, 0);
  lane.rtt_ns = 10'000;
  ASSERT_TRUE(t.start().ok());
  GroupSlot slot = slot_at(Instant{clock.load()}, kMinute);
  slot.record.ack_delay.add(Duration::micros(10), Instant{clock.load()});
  ASSERT_TRUE(lane.closed.push(slot));
  clock += kMinute.ns / 8;  // of grace
  t.told(false);
  ToldBudget before, lower;
  ASSERT_TRUE(await([&] { return lane.budgets.pop(before); }));
  GroupSlot look{GroupKey{}, slot.slot + 1, true, {}};
  SlotRecord& r = look.record;
  r.acked_bytes = r.busy_acked_bytes = 1000;
  r.acked_ns = r.busy_ns = r.covered_ns = static_cast<uint64_t>(kMinute.ns / 4);
  r.unacked_bytes = 1'000'000;
  r.ack_delay.add(Duration::millis(5), Instant{clock.load()});
  ASSERT_TRUE(lane.looked.push(look));
  t.told(true);
  ASSERT_TRUE(await([&] { return lane.budgets.pop(lower); }));
  EXPECT_LT(lower.budget.rate.bps, before.budget.rate.bps);
  EXPECT_GT(lower.budget.seq, before.budget.seq);
  t.stop();
}

TEST_F(BudgetThreadTest, StopsWhileItSleeps) {
  ASSERT_TRUE(t.start().ok());
  t.stop();
  t.stop();
}

}  // namespace
}  // namespace matchrdma::daemon
