// The source role's own rules: duplicates and generations, READ-class, gate, memory, CNPs, credits (PROTOCOL 3
// to 5).
#include <gtest/gtest.h>

#include "tests/tags/confirm_first.h"

namespace matchrdma::tags {
namespace {

RigOptions throttled(Duration hold_max) {
  RigOptions o;
  o.throttled();
  o.config.timing.hold_max = hold_max;
  return o;
}

RoceSpec moved(uint32_t psn) {
  RoceSpec r = write_only(psn);
  r.va = 0x2000;
  return r;
}

std::string source_state(const Proxy& p) {
  for (const FlowView& v : p.shard.flows()) {
    if (v.source) return v.state;
  }
  return "";
}

TEST(Tags, C4_EqualDuplicateIsAbsorbed) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.from_a(write_only(100));
  EXPECT_EQ(psns(rig.a.wan), (Psns{100}));
  EXPECT_EQ(acks(rig.a.lan), (Psns{100, 100}));
  EXPECT_EQ(rig.a.shard.counters().spurious_retransmit, 1u);  // H4
}

TEST(Tags, C4_OtherPayloadIsNeitherAckedNorForwarded) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100, 1));
  rig.from_a(write_only(100, 2));
  EXPECT_EQ(psns(rig.a.wan), (Psns{100}));
  EXPECT_EQ(acks(rig.a.lan), (Psns{100}));
  EXPECT_EQ(rig.a.shard.owned_packets(), 1u);
}

TEST(Tags, C4_OtherHeaderAtAFirstIsANewGeneration) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.carry();
  rig.a.lan.clear();
  rig.b.lan.clear();
  rig.from_a(moved(100));
  EXPECT_EQ(rig.a.shard.counters().generations, 1u);
  ASSERT_TRUE(newest<FlowClose>(rig.a.wan).has_value());
  EXPECT_TRUE(newest<FlowClose>(rig.a.wan)->whole_qp);
  EXPECT_TRUE(psns(rig.a.wan).empty());  // kept until the far side has forgotten the old one
  EXPECT_TRUE(aeths(rig.a.lan).empty());
  rig.run(Duration::millis(1));
  ASSERT_EQ(psns(rig.b.lan), (Psns{100}));
  EXPECT_EQ(rig.b.lan[0].frame().reth_va(), 0x2000u);
}

TEST(Tags, C4_EqualToTheRingIsAnsweredNotForwarded) {
  PairRig rig;
  confirm_first(rig);
  rig.from_a(write_only(100));
  EXPECT_TRUE(psns(rig.a.wan).empty());
  EXPECT_EQ(acks(rig.a.lan), (Psns{100}));
}

TEST(Tags, C4_OtherPayloadOfAConfirmedOneIsForwarded) {
  PairRig rig;
  confirm_first(rig);
  rig.from_a(write_only(100, 2));
  EXPECT_EQ(psns(rig.a.wan, Cause::kDuplicateForwarded), (Psns{100}));
  EXPECT_TRUE(aeths(rig.a.lan).empty());
  rig.carry_ab();
  EXPECT_EQ(psns(rig.b.lan), (Psns{100}));
  rig.from_b(answer(100, 1));
  EXPECT_EQ(psns(rig.b.wan, Cause::kPassedAck), (Psns{100}));  // the re-ACK passes (IBA C9-105)
}

TEST(Tags, C4_ForgottenDuplicateMeetsSilenceWhileOwning) {
  RigOptions o;
  o.config.limits.confirmed_per_flow = 1;
  PairRig rig(o);
  confirm_first(rig);
  rig.from_a(write_only(101));
  rig.carry_ab();
  rig.from_b(answer(101, 2));
  rig.run(Duration::millis(1));  // the ring forgets 100
  rig.from_a(write_only(102));
  rig.a.lan.clear();
  rig.a.wan.clear();
  rig.from_a(write_only(100));
  EXPECT_TRUE(psns(rig.a.wan).empty());
  EXPECT_TRUE(aeths(rig.a.lan).empty());
}

TEST(Tags, C4_AckedLongAgoIsANewGeneration) {
  PairRig rig;
  rig.connect();
  for (uint32_t psn = 100; psn < 109; ++psn) rig.from_a(write_only(psn));
  rig.carry_ab();
  rig.from_b(answer(108, 9));
  rig.run(Duration::millis(900));
  rig.from_a(write_only(100));
  EXPECT_EQ(rig.a.shard.counters().generations, 0u);
  for (uint32_t psn = 109; psn < 117; ++psn) rig.from_a(write_only(psn));
  rig.carry_ab();
  rig.from_b(answer(116, 17));
  rig.run(Duration::millis(1100));
  rig.from_a(write_only(100));
  EXPECT_EQ(rig.a.shard.counters().generations, 1u);
}

TEST(Tags, C13_ReadOccupiesOnePsnPerResponse) {
  PairRig rig;
  rig.connect();
  rig.from_a(read_request(100, 1025));
  rig.from_a(read_request(102, 0));
  rig.from_a(write_only(103));
  rig.carry_ab();
  EXPECT_EQ(psns(rig.b.lan), (Psns{100, 102, 103}));
}

TEST(Tags, C14_UnknownOpcodeDrainsToTransparent) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  RoceSpec strange = write_only(101);
  strange.opcode = 0x15;  // reserved
  rig.from_a(strange);
  rig.from_a(write_only(102));
  EXPECT_EQ(psns(rig.a.wan), (Psns{100}));
  rig.carry_ab();
  rig.from_b(answer(100, 1));
  rig.run(Duration::millis(1));
  EXPECT_EQ(psns(rig.b.lan), (Psns{100, 101, 102}));
  EXPECT_EQ(source_state(rig.a), "transparent");
  rig.from_a(write_only(103));
  rig.run(Duration::millis(1));
  rig.from_b(answer(103, 4));
  rig.run(Duration::millis(1));
  EXPECT_EQ(psns(rig.a.lan, Cause::kPseudoAck), (Psns{100}));
  EXPECT_EQ(psns(rig.a.lan, Cause::kPassedAck), (Psns{103}));
}

TEST(Tags, H3_HoldMaxReleases) {
  PairRig rig(throttled(Duration::micros(500)));
  rig.connect();
  rig.from_a(write_only(100));
  rig.from_a(write_only(101));
  rig.wait(Duration::micros(400));
  EXPECT_EQ(acks(rig.a.lan), (Psns{100}));
  rig.wait(Duration::micros(200));
  EXPECT_EQ(acks(rig.a.lan), (Psns{100, 101}));
  EXPECT_EQ(psns(rig.a.wan), (Psns{100}));  // injection still waits for the budget
}

TEST(Tags, H3_HoldMaxLiftsNoFence) {
  PairRig rig(throttled(Duration::micros(500)));
  rig.connect();
  rig.from_a(read_request(100, 64));
  rig.from_a(write_only(101));
  rig.wait(Duration::millis(1));
  EXPECT_TRUE(aeths(rig.a.lan).empty());
}

TEST(Tags, H3_AboveTheSoftLimitOnlyAdmissionAcknowledges) {
  RigOptions o = throttled(Duration::micros(500));
  o.config.limits.custody_soft_bytes = 1;
  PairRig rig(o);
  rig.connect();
  rig.from_a(write_only(100));
  rig.from_a(write_only(101));
  rig.wait(Duration::micros(900));
  EXPECT_EQ(acks(rig.a.lan), (Psns{100}));
  rig.wait(Duration::millis(1));
  EXPECT_EQ(acks(rig.a.lan), (Psns{100, 101}));
}

// What was dropped while the peer was not there is asked for when it is back: the sender would wait out its
// timeout, seconds long where it was set for a long span.
TEST(Tags, H5_AfterThePeerIsBackTheSenderIsAskedOnce) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.run(Duration::millis(20));
  rig.wait(Duration::millis(300));  // nothing is heard of the peer, which owes the answer to 100
  rig.from_a(write_only(101));
  rig.from_a(write_only(102));
  EXPECT_EQ(rig.a.shard.owned_packets(), 1u);
  EXPECT_TRUE(naks(rig.a.lan).empty()) << "silence while it is away";
  rig.run(Duration::millis(50));
  rig.from_a(write_only(103));
  rig.run(Duration::millis(1));
  EXPECT_EQ(naks(rig.a.lan), (Psns{101}));
  for (uint32_t psn = 101; psn < 104; ++psn) rig.from_a(write_only(psn));
  rig.run(Duration::millis(1));
  EXPECT_EQ(acks(rig.a.lan).back(), 103u);
}

TEST(Tags, H5_ChosenDropMeetsSilence) {
  RigOptions o;
  o.config.limits.custody_hard_bytes = 300;  // two packets
  o.config.limits.reserve_bytes_per_flow = 0;
  PairRig rig(o);
  rig.connect();
  for (uint32_t psn = 100; psn < 104; ++psn) rig.from_a(write_only(psn));
  rig.wait(Duration::millis(1));
  EXPECT_EQ(acks(rig.a.lan), (Psns{100, 101}));
  EXPECT_TRUE(naks(rig.a.lan).empty());
  rig.carry_ab();
  rig.from_b(answer(101, 2));
  rig.run(Duration::millis(1));
  rig.from_a(write_only(102));  // the sender returned to it
  EXPECT_EQ(acks(rig.a.lan).back(), 102u);
}

TEST(Tags, H8_ReadQueuesBehindEarlierWrites) {
  PairRig rig(throttled(Duration::millis(50)));
  rig.connect();
  rig.from_a(write_only(100));
  rig.from_a(write_only(101));
  rig.from_a(read_request(102, 64));
  rig.wait(Duration::millis(5));
  EXPECT_EQ(psns(rig.a.wan), (Psns{100, 101, 102}));
}

TEST(Tags, H8_ReadRetryQueuesBehindWhatTheGateHolds) {
  PairRig rig(throttled(Duration::millis(50)));
  rig.connect();
  rig.from_a(read_request(100, 64));
  rig.from_a(write_only(101));
  rig.from_a(read_request(100, 64));
  rig.wait(Duration::millis(5));
  EXPECT_EQ(psns(rig.a.wan), (Psns{100, 101, 100}));
}

TEST(Tags, H9_ReadIsChargedItsOwnBytes) {
  RigOptions o = throttled(Duration::millis(50));
  o.config.tuning.budget_burst_bytes = 1000;
  PairRig rig(o);
  rig.connect();
  rig.from_a(read_request(100, 1 << 20));
  rig.from_a(write_only(100 + 1024));
  EXPECT_EQ(psns(rig.a.wan), (Psns{100, 1124}));
}

TEST(Tags, H9_ResponsesUseTheBudgetOfTheirReceiver) {
  RigOptions o = throttled(Duration::millis(50));
  o.config.tuning.budget_burst_bytes = 200;
  PairRig rig(o);
  rig.connect();
  rig.from_b(response(op::kRcReadRespFirst, 100));
  rig.from_b(response(op::kRcReadRespLast, 101));
  rig.from_b(write_only(5000));
  EXPECT_EQ(psns(rig.b.wan), (Psns{100, 101}));
  rig.wait(Duration::millis(3));
  EXPECT_EQ(psns(rig.b.wan), (Psns{100, 101, 5000}));
}

TEST(Tags, H11_MarkIsRewrittenOnlyWhereACnpWentOut) {
  PairRig rig;
  const Ends one, two{Qpn{0x33}, Qpn{0x44}, 100, 5000, 0};
  rig.connect(one);
  rig.connect(two);
  rig.from_a(write_only(100), one, 1);
  rig.from_a(write_only(101), one, 3);
  rig.from_a(write_only(100), two, 3);  // the port's limiter is closed
  EXPECT_EQ(rig.a.shard.counters().cnps, 1u);
  ASSERT_EQ(psns(rig.a.wan), (Psns{100, 101, 100}));
  EXPECT_EQ(rig.a.wan[1].frame().ecn(), 1);  // the flow's own codepoint
  EXPECT_EQ(rig.a.wan[2].frame().ecn(), 3);
  rig.from_a(write_only(102), one, 3);  // within the interval: told already
  EXPECT_EQ(rig.a.shard.counters().cnps, 1u);
  EXPECT_EQ(rig.a.wan.back().frame().ecn(), 1);
}

TEST(Tags, H18_WindowStaysInsideHalfThePsnSpace) {
  RigOptions o;
  o.path_mtu = 256;
  PairRig rig(o);
  rig.connect();
  constexpr uint32_t kHalf = 1 << 21;
  rig.from_a(read_request(100, kHalf * 256));
  rig.from_a(read_request(100 + kHalf, (kHalf + 1) * 256));
  EXPECT_EQ(psns(rig.a.wan), (Psns{100}));
  EXPECT_EQ(rig.a.shard.counters().reasons[Reason::kWindowLimit], 1u);
}

TEST(Tags, H18_HugeReadMakesTheFlowTransparent) {
  RigOptions o;
  o.path_mtu = 256;
  PairRig rig(o);
  rig.connect();
  rig.from_a(read_request(100, ((1u << 22) + 1) * 256));
  rig.run(Duration::millis(1));
  EXPECT_EQ(psns(rig.b.lan), (Psns{100}));
  EXPECT_EQ(source_state(rig.a), "transparent");
}

TEST(Tags, H20_CreditsCountFromTheReceiversMsn) {
  RigOptions o;
  o.credits = true;
  PairRig rig(o);
  rig.connect();
  rig.from_a(write_only(100));
  rig.carry_ab();
  rig.from_b(answer(100, 1, 5));  // code 5: six credits
  rig.run(Duration::millis(1));
  EXPECT_EQ(aeths(rig.a.lan).back().syndrome, 5);  // credit updates are forwarded
  rig.from_a(write_only(101));
  EXPECT_EQ(aeths(rig.a.lan).back().msn, 2u);
  EXPECT_EQ(aeths(rig.a.lan).back().syndrome, 4);  // five left; code 5 would promise six
}

TEST(Tags, H20_NoCreditsStaysNoCredits) {
  PairRig rig;
  confirm_first(rig);
  rig.from_a(write_only(101));
  EXPECT_EQ(aeths(rig.a.lan).back().syndrome, 31);
}

// What is remembered of answered READs must never be in the way of new ones, of whatever flow.
TEST(Tags, C3_ManyFlowsThatReadAlwaysFindRoom) {
  RigOptions o;
  o.config.limits.custody_packets = 4096;  // as small as a laptop's
  o.config.limits.max_owning_flows = 64;
  PairRig rig(o);
  constexpr uint32_t kPairs = 32, kReads = 300;
  for (uint32_t q = 0; q < kPairs; ++q) rig.connect({.a = Qpn{0x100 + q}, .b = Qpn{0x200 + q}});
  for (uint32_t n = 0; n < kReads; ++n) {
    for (uint32_t q = 0; q < kPairs; ++q) {
      const Ends e{.a = Qpn{0x100 + q}, .b = Qpn{0x200 + q}};
      rig.from_a(read_request(100 + n, 64), e);
      rig.carry();
      rig.from_b(response(op::kRcReadRespOnly, 100 + n, n + 1), e);
      rig.carry();
    }
    rig.run(Duration::millis(1));
  }
  rig.run(Duration::millis(100));
  EXPECT_EQ(rig.a.shard.counters().reasons.n[static_cast<size_t>(Reason::kWindowLimit)], 0u);
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
}

std::vector<PacketRef> pauses(Queue& lan) {
  std::vector<PacketRef> out;
  for (Left& l : lan) {
    if (l.cause == Cause::kPause) out.push_back(std::move(l.packet));
  }
  lan.clear();
  return out;
}

// PROTOCOL 4, escalation: above the soft limit the LAN is paused, until an eighth below it.
TEST(Tags, C12_LanIsPausedWhileCustodyIsShortOfMemory) {
  RigOptions o;
  o.config.limits.custody_soft_bytes = 400;
  o.config.pause = {{2, 0, 0, 0, 0, 9}, 1 << 3, 100'000'000'000};
  PairRig rig(o);
  rig.connect();
  uint32_t psn = 100;
  while (rig.a.shard.counters().custody_bytes <= 400) rig.from_a(write_only(psn++));
  auto sent = pauses(rig.a.lan);
  ASSERT_EQ(sent.size(), 1u);
  const Bytes f = sent[0]->bytes();
  ASSERT_EQ(f.size(), 60u);
  EXPECT_EQ(load_be32(f.data()), 0x0180c200u);
  EXPECT_EQ(load_be32(f.data() + 8), 9u);
  EXPECT_EQ(load_be32(f.data() + 12), 0x88080101u);
  EXPECT_EQ(load_be16(f.data() + 16), 1 << 3);
  for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(load_be16(f.data() + 18 + 2 * i) != 0, i == 3);
  // 100 us of a 100 Gb/s port in quanta of 512 bits.
  EXPECT_EQ(load_be16(f.data() + 24), 19531);
  rig.wait(Duration::micros(500));
  EXPECT_EQ(pauses(rig.a.lan).size(), 10u);  // every 50 us: none runs out
  rig.carry();
  rig.from_b(answer(psn - 1, psn - 100));
  rig.run(Duration::millis(10));
  pauses(rig.a.lan);
  EXPECT_EQ(rig.a.shard.counters().custody_bytes, 0u);
  rig.wait(Duration::millis(1));
  EXPECT_TRUE(pauses(rig.a.lan).empty());
  EXPECT_GT(rig.a.shard.counters().pauses, 0u);
}

// Small packets use the entries up long before the bytes.
TEST(Tags, C12_LanIsPausedWhileCustodyIsShortOfEntries) {
  RigOptions o;
  o.config.limits.custody_packets = 40;
  o.config.limits.custody_soft_bytes = 3u << 20;
  o.config.limits.custody_hard_bytes = 4u << 20;
  o.config.pause = {{2, 0, 0, 0, 0, 9}, 1 << 3, 100'000'000'000};
  PairRig rig(o);
  rig.connect();
  uint32_t psn = 100;
  for (; psn < 130; ++psn) rig.from_a(write_only(psn));
  EXPECT_TRUE(pauses(rig.a.lan).empty());
  rig.from_a(write_only(psn++));
  EXPECT_EQ(pauses(rig.a.lan).size(), 1u);
  EXPECT_EQ(rig.a.shard.counters().cnps, 1u);
  rig.carry();
  rig.from_b(answer(psn - 1, psn - 100));
  rig.run(Duration::millis(10));
  pauses(rig.a.lan);
  rig.wait(Duration::millis(1));
  EXPECT_TRUE(pauses(rig.a.lan).empty());
}

TEST(Tags, C12_NoPriorityNamedNoPause) {
  RigOptions o;
  o.config.limits.custody_soft_bytes = 400;
  PairRig rig(o);
  rig.connect();
  for (uint32_t psn = 100; psn < 120; ++psn) rig.from_a(write_only(psn));
  rig.wait(Duration::millis(1));
  EXPECT_TRUE(pauses(rig.a.lan).empty());
}

TEST(Tags, CnpsCarryTheConfiguredDscp) {
  RigOptions o;
  o.config.tuning.cnp_dscp = 40;
  PairRig rig(o);
  rig.connect();
  rig.from_a(write_only(100), {}, 3);
  const auto cnp =
      std::find_if(rig.a.lan.begin(), rig.a.lan.end(), [](const Left& l) { return l.cause == Cause::kCnp; });
  ASSERT_NE(cnp, rig.a.lan.end());
  EXPECT_EQ(cnp->frame().traffic_class() >> 2, 40);
}

}  // namespace
}  // namespace matchrdma::tags
