#include "dataplane/destination/receiver_slots.h"

#include <gtest/gtest.h>

namespace matchrdma {
namespace {

constexpr Duration kSlot = Duration::micros(200), kFar = Duration::millis(10), kNear = Duration::micros(20);
constexpr Instant at(int64_t us) { return Instant{us * 1000}; }

struct ReceiverSlotsTest : ::testing::Test {
  Tuning tuning;
  EgressGroup g{GroupKey{}, 0, tuning, Instant{}};
  ReceiverSlots slots{kSlot};
};

TEST_F(ReceiverSlotsTest, NumbersCountFromTimeZero) {
  slots.arrived(g, 1000, at(250));
  EXPECT_EQ(slots.next_deadline(), at(400));
  slots.run(at(399), kFar);
  EXPECT_TRUE(slots.closed().empty());
  slots.run(at(400), kFar);
  ASSERT_EQ(slots.closed().size(), 1u);
  EXPECT_EQ(slots.closed()[0].slot, 1);
  EXPECT_EQ(slots.closed()[0].record.arrived_bytes, 1000u);
  EXPECT_EQ(slots.closed()[0].record.covered_ns, 200'000u);
  EXPECT_TRUE(slots.closed()[0].more);
}

TEST_F(ReceiverSlotsTest, AnEmptySlotIsTheLastAndCostsNothingAfterwards) {
  slots.arrived(g, 1000, at(250));
  slots.run(at(400), kFar);
  slots.run(at(600), kFar);
  ASSERT_EQ(slots.closed().size(), 1u);
  EXPECT_FALSE(slots.closed()[0].more);
  EXPECT_TRUE(slots.next_deadline().is_never());
}

TEST_F(ReceiverSlotsTest, WhatIsNotAcknowledgedKeepsItWatched) {
  slots.arrived(g, 1000, at(250));
  g.unacked_bytes = 1000;
  for (int64_t t = 400; t <= 2000; t += 200) {
    slots.run(at(t), kFar);
    ASSERT_EQ(slots.closed().size(), 1u) << t;
    EXPECT_TRUE(slots.closed()[0].more) << t;
  }
}

TEST_F(ReceiverSlotsTest, OnAShortSpanStrainedReceiversAreLookedAt) {
  slots.arrived(g, 1000, at(210));
  slots.run(at(210), kNear);
  EXPECT_EQ(slots.next_deadline(), at(250));
  slots.run(at(250), kNear);
  EXPECT_TRUE(slots.looked().empty()) << "nothing is wrong";
  g.cnp(at(260));
  g.meter.acked(500, 1, false, at(270));
  slots.run(at(299), kNear);
  EXPECT_TRUE(slots.looked().empty());
  slots.run(at(301), kNear);
  ASSERT_EQ(slots.looked().size(), 1u);
  EXPECT_EQ(slots.looked()[0].slot, 1);
  EXPECT_EQ(slots.looked()[0].record.acked_bytes, 500u);
  EXPECT_EQ(slots.looked()[0].record.arrived_bytes, 0u) << "before the last look";
  EXPECT_EQ(slots.next_deadline(), at(350));
  slots.run(at(310), kNear);
  EXPECT_TRUE(slots.looked().empty()) << "told once";
  slots.run(at(350), kNear);
  EXPECT_EQ(slots.next_deadline(), at(400)) << "the end of the slot is the last look";
  slots.run(at(400), kNear);
  EXPECT_EQ(slots.closed().size(), 1u);
}

TEST_F(ReceiverSlotsTest, OnALongSpanNobodyLooks) {
  slots.arrived(g, 1000, at(210));
  g.cnp(at(220));
  slots.run(at(220), kFar);
  EXPECT_EQ(slots.next_deadline(), at(400));
  slots.run(at(320), kFar);
  EXPECT_TRUE(slots.looked().empty());
}

// A worker that was held up has counted in one slot what came in several.
TEST_F(ReceiverSlotsTest, LateOnesCoverMore) {
  slots.arrived(g, 1000, at(250));
  slots.run(at(1250), kFar);
  ASSERT_EQ(slots.closed().size(), 1u);
  EXPECT_EQ(slots.closed()[0].slot, 1);
  EXPECT_EQ(slots.closed()[0].record.covered_ns, 200'000u);
  slots.arrived(g, 5000, at(1250));
  slots.run(at(1400), kFar);
  ASSERT_EQ(slots.closed().size(), 1u);
  EXPECT_EQ(slots.closed()[0].slot, 6);
  EXPECT_EQ(slots.closed()[0].record.covered_ns, 1'000'000u);
  EXPECT_EQ(slots.closed()[0].record.per(kSlot).arrived_bytes, 1000u);
}

// Where the span loses packets, what came while a hole stood open may wait: it is no sign of a slow receiver.
TEST_F(ReceiverSlotsTest, WhatRepairsNeedIsNoBacklog) {
  slots.arrived(g, 1000, at(250));
  g.unacked_bytes = 1;
  g.queued_bytes = 1'000'000;
  g.repair_bytes = 600'000;
  slots.run(at(400), kFar);
  EXPECT_EQ(slots.closed()[0].record.backlog_bytes, 400'000u);
  g.queued_bytes = 100'000;
  slots.run(at(600), kFar);
  EXPECT_EQ(slots.closed()[0].record.backlog_bytes, 0u);
  const uint64_t before = g.repair_bytes;
  for (int64_t t = 800; t <= 3'000'000; t += 200) slots.run(at(t), kFar);
  EXPECT_LT(g.repair_bytes, before / 10) << "forgotten without holes";
}

TEST_F(ReceiverSlotsTest, WithoutALengthNothingIsRecorded) {
  ReceiverSlots none{Duration{}};
  none.arrived(g, 1000, at(250));
  none.passed(g, 1000, at(250));
  none.run(at(400), kFar);
  EXPECT_TRUE(none.closed().empty());
  EXPECT_TRUE(none.next_deadline().is_never());
}

}  // namespace
}  // namespace matchrdma
