#include "controlplane/estimator/budget_maker.h"

#include <gtest/gtest.h>

namespace matchrdma {
namespace {

constexpr Duration kSlot = Duration::micros(200), kOneWay = Duration::millis(1);
constexpr Instant end_of(int64_t slot) { return Instant{(slot + 1) * kSlot.ns}; }

GroupKey receiver(uint8_t last) {
  GroupKey k;
  k.dst = IpAddress{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last}};
  return k;
}

/// 10 Gb/s for a slot, all of it acknowledged.
GroupSlot slot_of(uint8_t last, int64_t slot, uint64_t bytes = 250'000, bool more = true) {
  GroupSlot s{receiver(last), slot, more, {}};
  s.record.arrived_bytes = s.record.acked_bytes = s.record.egress_bytes = bytes;
  s.record.packets = bytes / 4000;
  s.record.covered_ns = static_cast<uint64_t>(kSlot.ns);
  return s;
}

struct BudgetMakerTest : ::testing::Test {
  BudgetMaker m{EstimatorSettings{}, 2, 4};
  void say(uint32_t worker, const GroupSlot& s) { m.record(worker, {&s, 1}); }
};

TEST_F(BudgetMakerTest, OneBudgetASlotForEveryWorker) {
  EXPECT_TRUE(m.next_deadline().is_never());
  say(0, slot_of(1, 7));
  EXPECT_TRUE(m.run(end_of(7) - Duration{1}, kOneWay).empty()) << "the slot has not ended";
  const auto budgets = m.run(end_of(7), kOneWay);
  ASSERT_EQ(budgets.size(), 2u);
  EXPECT_EQ(budgets[0].worker, 0u);
  EXPECT_EQ(budgets[1].worker, 1u);
  EXPECT_EQ(budgets[0].told.budget.group, receiver(1));
  EXPECT_EQ(budgets[0].told.budget.seq, 1u);
  EXPECT_EQ(m.why().size(), 1u);
  EXPECT_EQ(m.next_deadline(), end_of(8));
  EXPECT_TRUE(m.run(end_of(7), kOneWay).empty()) << "once a slot";
}

TEST_F(BudgetMakerTest, WorkersShareByWhatArrivedThere) {
  for (int64_t slot = 0; slot < 50; ++slot) {
    say(0, slot_of(1, slot, 240'000));
    say(1, slot_of(1, slot, 10'000));
    const auto b = m.run(end_of(slot), kOneWay);
    ASSERT_EQ(b.size(), 2u);
    const int64_t sum = b[0].told.budget.rate.bps + b[1].told.budget.rate.bps;
    EXPECT_NEAR(static_cast<double>(sum), m.why()[0].slot->why.granted * 1e9, 10);
    EXPECT_GT(b[0].told.budget.rate.bps, b[1].told.budget.rate.bps);
    EXPECT_GT(b[1].told.budget.rate.bps, 800'000'000) << "twice what it sent";
  }
}

// What is not granted cannot arrive, and would not be granted ever after.
TEST_F(BudgetMakerTest, NobodyIsStarvedBecauseItSentNothing) {
  for (int64_t slot = 0; slot < 200; ++slot) {
    // Receivers 1 and 2 take what the line gives, 3 has nothing coming but a beginning.
    say(0, slot_of(1, slot, 1'250'000));
    say(0, slot_of(2, slot, 1'250'000));
    say(0, slot_of(3, slot, slot == 0 ? 4000 : 0));
    for (const WorkerBudget& b : m.run(end_of(slot), kOneWay)) {
      const bool idle_worker = b.worker == 1;
      if (b.told.budget.group == receiver(3)) {
        EXPECT_GE(b.told.budget.rate.bps, idle_worker ? 100'000'000 : 250'000'000) << "slot " << slot;
      } else {
        EXPECT_GE(b.told.budget.rate.bps, 1'000'000'000) << "slot " << slot;
      }
    }
  }
}

// An unknown slot is not an empty one: taken for that, the queue would be gone and a burst be sent after it.
TEST_F(BudgetMakerTest, AWorkerThatOwesARecordIsWaitedFor) {
  for (int64_t slot = 0; slot < 5; ++slot) {
    say(0, slot_of(1, slot));
    m.run(end_of(slot), kOneWay);
  }
  EXPECT_TRUE(m.run(end_of(5), kOneWay).empty());
  EXPECT_TRUE(m.waiting());
  EXPECT_EQ(m.next_deadline(), end_of(6)) << "a slot at most";
  say(0, slot_of(1, 5));
  EXPECT_EQ(m.run(end_of(5) + Duration{5}, kOneWay).size(), 2u);
  EXPECT_FALSE(m.waiting());
}

TEST_F(BudgetMakerTest, WhoIsTooLateKeepsItsBudgetAndHoldsUpNobody) {
  say(0, slot_of(1, 0));
  say(1, slot_of(2, 0));
  m.run(end_of(0), kOneWay);
  for (int64_t slot = 1; slot < 9; ++slot) {
    say(1, slot_of(2, slot));
    m.run(end_of(slot), kOneWay);
  }
  const auto b = m.run(end_of(8), kOneWay);
  for (const WorkerBudget& w : m.run(end_of(9), kOneWay)) EXPECT_EQ(w.told.budget.group, receiver(2));
  EXPECT_TRUE(b.empty());
  ASSERT_EQ(m.why().size(), 1u);
  EXPECT_EQ(m.why()[0].group, receiver(2));
  EXPECT_GE(m.why()[0].slot->why.slot, 7);
}

/// After 100 slots at 10 Gb/s by worker 0, and as much by worker 1 if `both`: the receiver's network takes
/// 2 Gb/s of worker 0's now, with a queue of 600 kB.
struct StrainTest : BudgetMakerTest {
  static constexpr Duration kNear = Duration::micros(5);
  static constexpr int64_t kSlots = 100;
  void settle(bool both) {
    for (int64_t slot = 0; slot < kSlots; ++slot) {
      GroupSlot s = slot_of(1, slot);
      s.record.ack_delay.add(Duration::micros(20), end_of(slot));
      s.record.acked_ns = s.record.busy_ns = static_cast<uint64_t>(kSlot.ns);
      s.record.busy_acked_bytes = s.record.acked_bytes;
      say(0, s);
      if (both) say(1, s);
      m.run(end_of(slot), kNear);
    }
  }
  GroupSlot strained(int64_t slot = kSlots) const {
    GroupSlot p{receiver(1), slot, true, {}};
    p.record.acked_bytes = p.record.busy_acked_bytes = 12'500;
    p.record.acked_ns = p.record.busy_ns = p.record.covered_ns = 50'000;
    p.record.packets = 3;
    p.record.unacked_bytes = 600'000;
    p.record.ack_delay.add(Duration::millis(3), end_of(slot));
    return p;
  }
  int64_t look(const GroupSlot& part, Duration one_way = kNear) {
    m.look(0, {&part, 1});
    int64_t sum = 0;
    for (const WorkerBudget& b : m.run(end_of(kSlots - 1) + kSlot / 2, one_way)) sum += b.told.budget.rate.bps;
    return sum;
  }
};

TEST_F(StrainTest, TheBudgetFallsWithinTheSlotAndOnce) {
  settle(false);
  EXPECT_NEAR(static_cast<double>(look(strained())), 2e9, 1e6);
  EXPECT_EQ(look(strained()), 0) << "once a slot";
  EXPECT_EQ(m.counts().lowered, 1u);
  GroupSlot next = slot_of(1, kSlots);
  say(0, next);
  m.run(end_of(kSlots), kNear);
  ASSERT_EQ(m.why().size(), 1u);
  EXPECT_NEAR(m.why()[0].slot->why.tightened, 2, 1e-3) << "shown with the slot that it was said in";
  say(0, slot_of(1, kSlots + 1));
  m.run(end_of(kSlots + 1), kNear);
  EXPECT_EQ(m.why()[0].slot->why.tightened, 0);
}

// A worker whose flows are not late has not seen it yet: it goes on as before.
TEST_F(StrainTest, WhatAnotherWorkerStillGetsThroughCounts) {
  settle(true);
  EXPECT_NEAR(static_cast<double>(look(strained())), 12e9, 1e8);
}

TEST_F(StrainTest, OldLooksLongSpansAndStrangersChangeNothing) {
  settle(false);
  EXPECT_EQ(look(strained(kSlots - 1)), 0) << "of a slot that has ended";
  EXPECT_EQ(look(strained(), kOneWay), 0) << "the budget would come after the slot";
  GroupSlot other = strained();
  other.group = receiver(9);
  EXPECT_EQ(look(other), 0);
  EXPECT_GT(look(strained()), 0);
}

TEST_F(BudgetMakerTest, TooManyReceiversAreCountedAndGetNone) {
  for (uint8_t n = 1; n <= 6; ++n) say(0, slot_of(n, 0));
  EXPECT_EQ(m.counts().no_room, 2u);
  EXPECT_EQ(m.run(end_of(0), kOneWay).size(), 8u);
}

// The last words of a receiver that falls idle hold until it is heard of again.
TEST_F(BudgetMakerTest, IdleReceiversAreToldForLong) {
  say(0, slot_of(1, 0));
  m.run(end_of(0), kOneWay);
  say(0, slot_of(1, 1, 0, false));
  Duration validity;
  int64_t slot = 1;
  for (; !m.next_deadline().is_never() && slot < 20'000; ++slot) {
    for (const WorkerBudget& b : m.run(end_of(slot), kOneWay)) validity = b.told.budget.validity;
  }
  EXPECT_NEAR(static_cast<double>(slot), 5000, 20) << "a second";
  EXPECT_EQ(validity, Duration::seconds(3600));
}

}  // namespace
}  // namespace matchrdma
