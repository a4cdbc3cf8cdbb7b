#include "dataplane/destination/slot_meter.h"

#include <gtest/gtest.h>

namespace matchrdma {
namespace {

constexpr Instant at(int64_t us) { return Instant{us * 1000}; }
constexpr Duration us(int64_t n) { return Duration::micros(n); }

struct SlotMeterTest : ::testing::Test {
  SlotMeter m{75'000};  // a quarter of 300 kB
  SlotMeterTest() { m.begin(at(0)); }
  /// The receiver acknowledges so much after 10 us, which is its least delay, and owes an ACK still.
  void first_slot(uint64_t bytes) {
    m.begins(at(0));
    m.acked(bytes, bytes / 4000, false, at(20));
    m.delay(us(10), at(20));
    m.close(0, 0, at(200));
  }
};

TEST_F(SlotMeterTest, SumsOfASlotAndTheTimeTheyAreOf) {
  m.arrived(3000);
  m.sent(2000, at(10));
  m.cnp();
  m.passed(500);
  const SlotRecord r = m.close(1000, 700, at(200));
  EXPECT_EQ(r.arrived_bytes, 3000u);
  EXPECT_EQ(r.egress_bytes, 2500u);
  EXPECT_EQ(r.acked_bytes, 500u);
  EXPECT_EQ(r.backlog_bytes, 1000u);
  EXPECT_EQ(r.unacked_bytes, 700u);
  EXPECT_EQ(r.cnp_count, 1u);
  EXPECT_EQ(r.covered_ns, 200'000u);
  EXPECT_EQ(m.close(0, 0, at(1000)).covered_ns, 800'000u) << "a late close covers more than one slot";
}

// One ACK for a message that takes three slots: bytes and their time stand together in the slot of the ACK.
TEST_F(SlotMeterTest, AnAckIsOfTheTimeSinceTheOneBefore) {
  m.begins(at(100));
  EXPECT_EQ(m.close(0, 0, at(200)).acked_ns, 0u);
  EXPECT_EQ(m.close(0, 0, at(400)).acked_ns, 0u);
  m.acked(60'000, 15, false, at(500));
  const SlotRecord r = m.close(0, 0, at(600));
  EXPECT_EQ(r.acked_bytes, 60'000u);
  EXPECT_EQ(r.acked_ns, 400'000u);
}

TEST_F(SlotMeterTest, IdleTimeBeforeAMessageIsNotTheReceivers) {
  m.begins(at(0));
  m.acked(1000, 1, true, at(10));
  m.begins(at(150));
  m.acked(1000, 1, true, at(160));
  EXPECT_EQ(m.close(0, 0, at(200)).acked_ns, 20'000u);
}

TEST_F(SlotMeterTest, LateAcksMakeItBusy) {
  first_slot(100'000);
  // At 100 kB a slot of 200 us, 160 us more than the least delay are a queue of 80 kB.
  m.acked(50'000, 12, false, at(300));
  m.delay(us(170), at(300));
  m.acked(50'000, 12, false, at(380));
  const SlotRecord r = m.close(0, 0, at(400));
  EXPECT_EQ(r.busy_ns, 80'000u) << "from the late ACK to the next one";
  EXPECT_EQ(r.busy_acked_bytes, 50'000u);
  EXPECT_EQ(r.ack_delay.last_ns, 170'000u);
}

// The jitter of a NIC must not call a slow sender's rate the capacity.
TEST_F(SlotMeterTest, LateAcksOfFewBytesDoNot) {
  first_slot(4'000);
  m.acked(2'000, 1, false, at(300));
  m.delay(us(170), at(300));
  m.acked(2'000, 1, false, at(380));
  EXPECT_EQ(m.close(0, 0, at(400)).busy_ns, 0u);
}

TEST_F(SlotMeterTest, ALookIsOfWhatCameSinceTheLast) {
  first_slot(100'000);
  m.acked(10'000, 2, false, at(230));
  m.delay(us(12), at(230));
  const SlotRecord first = m.look(5, 6, at(250));
  EXPECT_EQ(first.acked_bytes, 10'000u);
  EXPECT_EQ(first.covered_ns, 50'000u);
  EXPECT_EQ(first.backlog_bytes, 5u);
  EXPECT_EQ(first.unacked_bytes, 6u);
  EXPECT_FALSE(m.strained());
  m.cnp();
  m.acked(4'000, 1, false, at(290));
  m.delay(us(170), at(290));
  EXPECT_TRUE(m.strained());
  const SlotRecord second = m.look(0, 0, at(300));
  EXPECT_EQ(second.acked_bytes, 4'000u);
  EXPECT_EQ(second.cnp_count, 1u);
  EXPECT_EQ(second.ack_delay.count, 1u);
  EXPECT_EQ(second.ack_delay.sum_ns, 170'000u);
  const SlotRecord slot = m.close(0, 0, at(400));
  EXPECT_EQ(slot.acked_bytes, 14'000u);
  EXPECT_EQ(slot.ack_delay.count, 2u);
  m.acked(3'000, 1, false, at(420));
  EXPECT_EQ(m.look(0, 0, at(450)).acked_bytes, 3'000u);
}

TEST_F(SlotMeterTest, NothingOwedIsNotBusy) {
  first_slot(100'000);
  m.acked(100'000, 25, false, at(300));
  m.delay(us(300), at(300));
  m.acked(1'000, 1, true, at(320));
  m.begins(at(380));
  m.acked(1'000, 1, true, at(390));
  EXPECT_EQ(m.close(0, 0, at(400)).busy_ns, 20'000u);
}

TEST_F(SlotMeterTest, WhatWasGivenUpMakesNobodyLate) {
  first_slot(100'000);
  m.acked(100'000, 25, false, at(300));
  m.delay(us(300), at(300));
  m.begins(at(350));  // the rest will never be acknowledged
  m.acked(1'000, 1, true, at(390));
  EXPECT_EQ(m.close(0, 0, at(400)).busy_ns, 0u);
}

// What leaves while our own queue waits for the receiver's known rate is what it takes, whatever its ACKs do.
TEST_F(SlotMeterTest, AQueueHeldBackCountsWhatIsSent) {
  m.sent(4'000, at(10));
  m.held_back(true, at(10));
  m.sent(4'000, at(50));
  m.held_back(true, at(50));
  m.sent(4'000, at(90));
  m.held_back(false, at(90));
  m.sent(4'000, at(150));
  const SlotRecord r = m.close(0, 0, at(200));
  EXPECT_EQ(r.held_ns, 80'000u);
  EXPECT_EQ(r.held_bytes, 8'000u);
}

TEST_F(SlotMeterTest, TheRateOfTheLastFiftyMicroseconds) {
  m.begins(at(0));
  for (int64_t t = 0; t < 200; t += 10) m.acked(12'500, 3, false, at(t));
  EXPECT_NEAR(static_cast<double>(m.acked_rate(at(200)).bps), 10e9, 2e9);
  EXPECT_LT(m.acked_rate(at(1000)).bps, 2'000'000'000) << "and it is forgotten";
}

}  // namespace
}  // namespace matchrdma
