// What the sender may be told: the ceiling (PROTOCOL 4) and who has none.
#include <gtest/gtest.h>

#include "tests/tags/pair_rig.h"

namespace matchrdma::tags {
namespace {

RigOptions throttled_without_hold() {
  RigOptions o;
  o.throttled();
  o.config.timing.hold_max = Duration::millis(50);
  return o;
}

TEST(Tags, C1_AckNeverAboveAdmitted) {
  PairRig rig(throttled_without_hold());
  rig.connect();
  rig.from_a(write_only(100));
  rig.from_a(write_only(101));
  EXPECT_EQ(psns(rig.a.wan), (Psns{100}));
  rig.from_a(write_only(101));  // asks again: the answer is what was admitted
  EXPECT_EQ(acks(rig.a.lan), (Psns{100, 100}));
  rig.wait(Duration::millis(2));
  EXPECT_EQ(psns(rig.a.wan), (Psns{100, 101}));
  EXPECT_EQ(acks(rig.a.lan), (Psns{100, 100, 101}));
}

TEST(Tags, C1_AckNeverForWhatIsNotOwned) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.from_a(write_only(102));  // 101 was lost on the LAN
  rig.wait(Duration::millis(1));
  EXPECT_EQ(acks(rig.a.lan), (Psns{100}));
  rig.from_a(write_only(101));
  EXPECT_EQ(acks(rig.a.lan).back(), 102u);
}

TEST(Tags, C2_NakAtMostCeilingPlusOne) {
  PairRig rig(throttled_without_hold());
  rig.connect();
  rig.from_a(write_only(100));
  rig.from_a(write_only(101));  // owned, in the gate
  rig.from_a(write_only(103));
  EXPECT_TRUE(naks(rig.a.lan).empty());
  rig.wait(Duration::micros(30));
  EXPECT_EQ(naks(rig.a.lan), (Psns{101}));  // a NAK at 102 would acknowledge 101
}

TEST(Tags, C2_NakAtTheGapWhenAllIsAdmitted) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.from_a(write_only(102));
  rig.wait(Duration::micros(30));
  EXPECT_EQ(naks(rig.a.lan), (Psns{101}));
}

// A responder's NAK answers a packet that is out of order; what the sender then sends again is in order.
TEST(Tags, C2_OneNakForEachGap) {
  PairRig rig;
  rig.connect();
  const auto send = [&rig](uint32_t first, uint32_t last) {
    for (uint32_t psn = first; psn <= last; ++psn) {
      rig.from_a(write_only(psn));
      rig.wait(Duration::micros(100));
    }
  };
  send(100, 100);
  send(120, 125);  // 101 to 119 were lost on the LAN
  EXPECT_EQ(naks(rig.a.lan), (Psns{101}));
  send(101, 110);
  EXPECT_EQ(naks(rig.a.lan), (Psns{101}));
  send(112, 112);  // 111 was lost again
  EXPECT_EQ(naks(rig.a.lan), (Psns{101, 111}));
  send(99, 100);  // it waited for its timeout, since that NAK was lost
  send(101, 110);
  EXPECT_EQ(naks(rig.a.lan), (Psns{101, 111}));
  send(112, 113);
  EXPECT_EQ(naks(rig.a.lan), (Psns{101, 111, 111}));
  send(111, 119);
  EXPECT_EQ(naks(rig.a.lan), (Psns{101, 111, 111}));
  EXPECT_EQ(acks(rig.a.lan).back(), 125u);
}

TEST(Tags, C3_ReadFence) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.from_a(read_request(101, 2048));  // PSN 101 and 102
  rig.from_a(write_only(103));
  EXPECT_EQ(acks(rig.a.lan), (Psns{100}));
  rig.carry_ab();
  rig.from_b(response(op::kRcReadRespFirst, 101, 2));
  rig.run(Duration::millis(1));
  EXPECT_EQ(acks(rig.a.lan), (Psns{100}));
  rig.from_b(response(op::kRcReadRespLast, 102, 2));
  rig.carry_ba();
  EXPECT_EQ(acks(rig.a.lan), (Psns{100, 103}));
}

TEST(Tags, C3_NoNakInsideAnUnansweredRead) {
  PairRig rig;
  rig.connect();
  rig.from_a(read_request(100, 2048));
  rig.from_a(write_only(103));  // 102 was lost on the LAN
  rig.wait(Duration::millis(1));
  EXPECT_TRUE(naks(rig.a.lan).empty());
  rig.carry_ab();
  rig.from_b(response(op::kRcReadRespFirst, 100, 1));
  rig.from_b(response(op::kRcReadRespLast, 101, 1));
  rig.run(Duration::micros(100));
  EXPECT_EQ(naks(rig.a.lan), (Psns{102}));
}

TEST(Tags, C3_ReadRetrySubRangePasses) {
  PairRig rig;
  rig.connect();
  rig.from_a(read_request(100, 4096));
  rig.carry_ab();
  rig.from_b(response(op::kRcReadRespFirst, 100, 1));
  rig.carry_ba();
  rig.wait(Duration::millis(2));
  rig.a.wan.clear();
  rig.b.lan.clear();
  rig.from_a(read_request(101, 3072, 0x1000 + 1024));
  EXPECT_EQ(psns(rig.a.wan, Cause::kReadRetry), (Psns{101}));
  rig.carry_ab();
  EXPECT_EQ(psns(rig.b.lan, Cause::kReadRetry), (Psns{101}));
  EXPECT_EQ(rig.a.shard.counters().generations, 0u);
}

RigOptions joined() {
  RigOptions o;
  o.fresh = false;
  return o;
}

TEST(Tags, C5_NoPseudoAckBeforeTheReceiversOwn) {
  PairRig rig(joined());
  rig.connect();
  rig.from_a(write_only(100));  // makes the flow known and opens it
  rig.run(Duration::millis(1));
  rig.from_a(write_only(101));
  rig.run(Duration::millis(1));
  rig.from_a(write_only(102));
  rig.run(Duration::millis(1));
  EXPECT_EQ(psns(rig.b.lan), (Psns{100, 101, 102}));
  EXPECT_TRUE(aeths(rig.a.lan).empty());
  rig.from_b(answer(102, 3));
  rig.run(Duration::millis(1));
  EXPECT_EQ(psns(rig.a.lan, Cause::kPassedAck), (Psns{102}));
  rig.from_a(write_only(103));
  EXPECT_EQ(psns(rig.a.lan, Cause::kPseudoAck), (Psns{103}));
  EXPECT_EQ(aeths(rig.a.lan).back().msn, 4u);
}

TEST(Tags, C5_NakBelowBasePassesAndForgetsBase) {
  PairRig rig(joined());
  rig.connect();
  rig.from_a(write_only(100));
  rig.run(Duration::millis(1));
  rig.from_a(write_only(101));
  rig.run(Duration::millis(1));
  rig.from_b(answer(100, 0, kNakSequence));
  rig.run(Duration::millis(1));
  EXPECT_EQ(naks(rig.a.lan), (Psns{100}));
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  rig.from_a(write_only(100));
  EXPECT_EQ(psns(rig.a.wan, Cause::kForward), (Psns{100}));
  EXPECT_FALSE(newest<FlowOpen>(rig.a.wan).has_value());  // only when the sender has passed its old highest PSN
  rig.from_a(write_only(101));
  rig.from_a(write_only(102));
  EXPECT_TRUE(newest<FlowOpen>(rig.a.wan).has_value());
}

TEST(Tags, C7_TransparentPolicyGivesNoPseudoAck) {
  RigOptions o;
  o.completion = Completion::kTransparent;
  PairRig rig(o);
  rig.connect();
  for (uint32_t psn = 100; psn < 110; ++psn) {
    rig.from_a(write_only(psn));
    rig.run(Duration::millis(1));
    rig.from_b(answer(psn, psn - 99));
    rig.run(Duration::millis(1));
  }
  EXPECT_EQ(rig.a.shard.counters().pseudo_acks, 0u);
  EXPECT_EQ(psns(rig.a.lan, Cause::kPassedAck).size() + psns(rig.a.lan, Cause::kForward).size(), 10u);
  EXPECT_EQ(psns(rig.b.lan).size(), 10u);
}

TEST(Tags, C7_UnmatchedTrafficIsTransparent) {
  PairRig rig;
  rig.from_a(write_only(100));
  ASSERT_EQ(rig.a.wan.size(), 1u);
  EXPECT_EQ(rig.a.wan[0].cause, Cause::kForward);
  EXPECT_TRUE(rig.a.lan.empty());
}

TEST(Tags, C7_EndToEndCompletesWithTheReceiver) {
  RigOptions o;
  o.completion = Completion::kEndToEnd;
  PairRig rig(o);
  rig.connect();
  rig.from_a(write_part(op::kRcWriteFirst, 100));
  rig.from_a(write_part(op::kRcWriteMiddle, 101, true));
  EXPECT_EQ(acks(rig.a.lan), (Psns{101}));  // completes nothing
  rig.from_a(write_part(op::kRcWriteLast, 102, true));
  rig.run(Duration::millis(2));
  EXPECT_EQ(acks(rig.a.lan), (Psns{101}));
  rig.from_b(answer(102, 1));
  rig.run(Duration::millis(1));
  EXPECT_EQ(acks(rig.a.lan), (Psns{101, 102}));
}

Instant oldest_owned(const Shard& shard) {
  Instant at = Instant::never();
  for (const FlowView& v : shard.flows()) at = earlier(at, v.oldest_owned);
  return at;
}

// What the histograms of the metrics are made of: each time counts once, from acceptance on.
TEST(Latencies, AckGateAndCustody) {
  RigOptions o;
  o.throttled();
  o.config.timing.hold_max = Duration::seconds(1);
  PairRig rig(o);
  rig.connect();
  rig.from_a(write_only(100));  // admitted and acknowledged at once
  rig.from_a(write_only(101));  // waits for the budget
  EXPECT_EQ(rig.a.shard.latencies().gate_wait.samples(), 1u);
  EXPECT_EQ(rig.a.shard.latencies().ack.sum_ns(), 0u);
  ASSERT_EQ(rig.a.shard.groups(rig.now()).size(), 1u);
  EXPECT_GT(rig.a.shard.groups(rig.now())[0].backlog_bytes, 0u);
  EXPECT_EQ(rig.a.shard.groups(rig.now())[0].rate, Rate{1'000'000});
  const Instant accepted = oldest_owned(rig.a.shard);
  EXPECT_EQ(accepted, rig.now());
  rig.run(Duration::millis(10));
  const Latencies& l = rig.a.shard.latencies();
  EXPECT_EQ(l.gate_wait.samples(), 2u);
  EXPECT_EQ(l.ack.samples(), 2u);
  EXPECT_GT(l.ack.sum_ns(), 500'000u);
  EXPECT_EQ(l.ack.sum_ns(), l.gate_wait.sum_ns());  // admission and acknowledgement are one decision
  EXPECT_EQ(l.custody_age.samples(), 0u);
  const Instant answered = rig.now();
  rig.from_b(answer(101, 2));
  rig.run(Duration::millis(10));
  EXPECT_EQ(l.custody_age.samples(), 2u);
  EXPECT_GE(l.custody_age.sum_ns(), static_cast<uint64_t>(2 * (answered - accepted).ns));
  EXPECT_TRUE(oldest_owned(rig.a.shard).is_never());
  EXPECT_EQ(rig.a.shard.groups(rig.now())[0].backlog_bytes, 0u);
  EXPECT_EQ(rig.a.shard.groups(rig.now())[0].admitted_bytes, rig.a.shard.counters().admitted_bytes);
}

// Below a fence an ACK answers only what lies below it; the rest goes on waiting since its own time.
TEST(Latencies, AckBehindAFenceCountsFromItsOwnTime) {
  PairRig rig;
  rig.connect();
  rig.from_a(read_request(100, 64));
  rig.wait(Duration::millis(2));
  rig.from_a(write_only(101));
  EXPECT_EQ(rig.a.shard.latencies().ack.samples(), 0u);
  rig.wait(Duration::millis(1));
  rig.to_a_wan(response(op::kRcReadRespOnly, 100, 1));
  ASSERT_EQ(acks(rig.a.lan), (Psns{101}));
  ASSERT_EQ(rig.a.shard.latencies().ack.samples(), 1u);
  EXPECT_EQ(rig.a.shard.latencies().ack.sum_ns(), 1'000'000u);
}

}  // namespace
}  // namespace matchrdma::tags
