// The destination role: settling, repair at the receiver, faults, closing (PROTOCOL 3, 5, 7).
#include <gtest/gtest.h>

#include "dataplane/wire/icrc.h"
#include "tests/tags/pair_rig.h"

namespace matchrdma::tags {
namespace {

uint32_t confirmed(const PairRig& rig) {
  const auto a = newest<CustodyAck>(rig.b.wan);
  return a ? wire_psn(a->confirmed_end).v : 0;
}

/// The destination has room for about eight of these packets of one flow.
struct LittleMemory : PairRig {
  static RigOptions options() {
    RigOptions o;
    o.config.limits.reorder_memory = 4096;
    return o;
  }
  LittleMemory() : PairRig(options()) { connect(); }
};

TEST(Tags, H2_WhatFindsNoMemoryIsNotSentAgainAndAgain) {
  LittleMemory rig;
  for (uint32_t psn = 100; psn < 140; ++psn) rig.from_a(write_only(psn));
  rig.carry();
  const size_t delivered = psns(rig.b.lan, Cause::kFirst).size();
  EXPECT_LT(delivered, 20u);
  rig.run(Duration::seconds(2));  // the receiver says nothing
  EXPECT_LE(rig.a.shard.counters().custody_resends, 20u);
  // It comes back to life: every packet once, in order.
  for (int i = 0; i < 100 && confirmed(rig) < 140; ++i) {
    const Psns all = psns(rig.b.lan, Cause::kFirst);
    rig.from_b(answer(all.back(), all.back() - 99));
    rig.run(Duration::millis(200));
  }
  const Psns all = psns(rig.b.lan, Cause::kFirst);
  ASSERT_EQ(all.size(), 40u);
  for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(all[i], 100 + i);
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  EXPECT_LE(rig.a.shard.counters().custody_resends, 3 * 40u);
}

TEST(Tags, S8_ReceiversThatStandStillStarveNobody) {
  RigOptions o;
  o.config.limits.reorder_memory = 64 << 10;
  PairRig rig(o);
  const auto ends = [](uint32_t n) { return Ends{Qpn{0x11 + n}, Qpn{0x22 + n}}; };
  for (uint32_t n = 0; n < 4; ++n) {  // a flow may take a quarter
    rig.connect(ends(n));
    for (uint32_t psn = 100; psn < 300; ++psn) rig.from_a(write_only(psn), ends(n));
    rig.run(Duration::millis(5));
  }
  EXPECT_GT(rig.b.shard.counters().reasons[Reason::kReorderMemory], 0u);
  rig.connect(ends(4));
  for (uint32_t psn = 100; psn < 140; ++psn) rig.from_a(write_only(psn), ends(4));
  rig.b.lan.clear();
  rig.carry();
  Psns got;
  for (const Left& l : rig.b.lan)
    if (l.packet && l.frame().dest_qp() == ends(4).b) got.push_back(l.frame().psn().v);
  EXPECT_EQ(got.size(), 40u);
}

TEST(Tags, C4_CloseIsAnsweredAfterTheMarker) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.carry();
  rig.b.lan.clear();
  RoceSpec other = write_only(100);
  other.va = 0x2000;
  rig.from_a(other);
  const FlowClose close = *newest<FlowClose>(rig.a.wan);
  rig.a.wan.clear();
  rig.say(rig.b, close);
  rig.wait(Duration::millis(10));
  EXPECT_FALSE(newest<FlowClosed>(rig.b.wan).has_value());
  rig.to_b_wan(write_only(101));  // a straggler of the old generation
  EXPECT_TRUE(rig.b.lan.empty());
  rig.say(rig.b, CloseMarker{close.id});
  EXPECT_FALSE(newest<FlowClosed>(rig.b.wan).has_value());
  rig.wait(Duration::micros(60));
  EXPECT_TRUE(newest<FlowClosed>(rig.b.wan).has_value());
}

TEST(Tags, H7_ResponseSettlesWhatStandsBeforeItInSequence) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.from_a(read_request(101, 4096));  // 101 to 104
  rig.carry_ab();
  rig.b.wan.clear();
  rig.from_b(response(op::kRcReadRespFirst, 101, 2));
  rig.wait(Duration::micros(200));
  EXPECT_EQ(confirmed(rig), 101u);
  rig.from_b(response(op::kRcReadRespMiddle, 103, 2));  // 102 was lost on the LAN
  rig.from_b(response(op::kRcReadRespLast, 104, 2));
  rig.wait(Duration::micros(200));
  EXPECT_EQ(confirmed(rig), 101u);
  EXPECT_EQ(psns(rig.b.wan), (Psns{101, 103, 104}));  // they pass all the same
}

TEST(Tags, H7_SourceCountsResponsesInSequence) {
  PairRig rig;
  rig.connect();
  rig.from_a(read_request(100, 4096));
  rig.from_a(write_only(104));
  rig.to_a_wan(response(op::kRcReadRespFirst, 100, 1));
  rig.to_a_wan(response(op::kRcReadRespMiddle, 102, 1));
  rig.to_a_wan(response(op::kRcReadRespLast, 103, 1));
  EXPECT_TRUE(acks(rig.a.lan).empty());
  rig.from_a(read_request(101, 3072, 0x1000 + 1024));
  rig.to_a_wan(response(op::kRcReadRespFirst, 101, 1));
  rig.to_a_wan(response(op::kRcReadRespMiddle, 102, 1));
  EXPECT_TRUE(acks(rig.a.lan).empty());
  rig.to_a_wan(response(op::kRcReadRespLast, 103, 1));
  EXPECT_EQ(acks(rig.a.lan), (Psns{104}));
}

TEST(Tags, H10_CnpIsConsumedOnlyForRecentRequests) {
  PairRig rig;
  rig.connect();
  rig.from_b(cnp());
  EXPECT_EQ(psns(rig.b.wan).size(), 1u);  // no request yet: it is about something else
  rig.from_a(write_only(100));
  rig.carry_ab();
  rig.from_b(answer(100, 1));
  rig.b.wan.clear();
  rig.from_b(cnp());
  EXPECT_TRUE(psns(rig.b.wan).empty());
  rig.wait(Duration::millis(3));
  rig.b.wan.clear();
  rig.from_b(cnp());
  EXPECT_EQ(psns(rig.b.wan).size(), 1u);
}

TEST(Tags, H10_CnpPassesWhileReadResponsesFlow) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.carry_ab();
  rig.to_b_wan(response(op::kRcReadRespOnly, 5000, 1));
  rig.b.wan.clear();
  rig.from_b(cnp());
  EXPECT_EQ(psns(rig.b.wan).size(), 1u);
}

TEST(Tags, H12_FatalNakPoisonsBothFlows) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.from_a(write_only(101));
  rig.from_a(read_request(102, 4096));
  rig.from_b(write_only(5000));
  rig.carry();
  rig.to_a_wan(response(op::kRcReadRespFirst, 102, 3));
  rig.a.lan.clear();
  rig.from_b(answer(101, 1, kNakInvalidRequest));
  EXPECT_TRUE(psns(rig.b.wan, Cause::kPassedAck).empty());
  rig.run(Duration::millis(1));
  ASSERT_EQ(psns(rig.a.lan, Cause::kFaultNak),
            (Psns{103}));  // the oldest outstanding: the READ's next response
  EXPECT_EQ(aeths(rig.a.lan).back().syndrome, kNakInvalidRequest);
  EXPECT_EQ(rig.a.shard.owned_packets() + rig.b.shard.owned_packets(), 0u);
  rig.b.lan.clear();
  rig.from_b(write_only(5001));  // the reverse flow of the QP is dead too
  ASSERT_EQ(aeths(rig.b.lan).size(), 1u);
  EXPECT_EQ(aeths(rig.b.lan)[0].syndrome, kNakInvalidRequest);
  EXPECT_TRUE(psns(rig.b.wan).empty());
}

// Packets that pass before the barrier is lifted are not kept, and one of them may be what the receiver
// refuses.
TEST(Tags, H12_FatalNakOfAPacketThatPassedPoisonsToo) {
  RigOptions o;
  o.fresh = false;
  PairRig rig(o);
  rig.connect();
  rig.from_a(write_only(100));
  rig.carry_ab();
  rig.carry_ba();
  const auto base = newest<FlowBase>(rig.a.wan);
  ASSERT_TRUE(base.has_value());
  lose_messages(rig.a.wan);  // it comes later than the packets behind it
  rig.from_a(write_only(101));
  rig.from_a(write_only(102));
  rig.carry_ab();
  rig.say(rig.b, *base);
  rig.b.wan.clear();
  rig.from_b(answer(102, 2, kNakInvalidRequest));
  EXPECT_EQ(psns(rig.b.wan, Cause::kPassedAck), (Psns{102}));  // the sender learns it from the receiver
  rig.wait(Duration::micros(1));
  EXPECT_TRUE(newest<FlowFault>(rig.b.wan).has_value());
  EXPECT_EQ(state_at(rig.b, false), "poisoned");
}

// Repair without progress counts from when the receiver owes an answer; a connection that nobody used for
// longer than that died of its next packet (seed 3021071818 of the swarm).
TEST(Tags, C9_IdleTimesAreNoRepair) {
  RigOptions o;
  o.config.timing.repair_bound = Duration::millis(50);
  o.config.timing.idle_expiry = Duration::seconds(10);
  PairRig rig(o);
  rig.connect();
  for (uint32_t psn = 100; psn < 103; ++psn) {
    rig.from_a(write_only(psn));
    rig.carry_ab();
    rig.wait(Duration::micros(10));
    EXPECT_FALSE(newest<FlowFault>(rig.b.wan).has_value()) << psn;
    EXPECT_EQ(state_at(rig.b, false), "active") << psn;
    rig.from_b(answer(psn, psn - 99));
    rig.run(Duration::millis(200));
  }
}

// A proxy that failed a flow alone has it forgotten by the one that goes on reporting.
TEST(Tags, H12_ReportsToAFailedFlowEnd) {
  RigOptions o;
  o.config.timing.custody_max_age = Duration::seconds(1);
  PairRig rig(o);
  rig.connect();
  rig.from_a(write_only(100));
  rig.carry_ab();
  rig.from_b(answer(100, 1));
  rig.b.wan.clear();  // the report does not arrive, nor does any other while custody ages
  rig.wait(Duration::seconds(2));
  ASSERT_EQ(state_at(rig.a, true), "poisoned");
  rig.run(Duration::millis(200));
  EXPECT_EQ(state_at(rig.b, false), "idle");
  rig.wait(Duration::millis(200));
  EXPECT_FALSE(newest<CustodyAck>(rig.b.wan).has_value());
}

TEST(Tags, H12_FaultStandsAtTheOldestOutstandingPsn) {
  RigOptions o;
  o.completion = Completion::kEndToEnd;
  PairRig rig(o);
  rig.connect();
  for (uint32_t psn = 100; psn < 104; ++psn) rig.from_a(write_only(psn));
  rig.carry();
  rig.from_b(answer(102, 2, kNakRemoteAccess));
  rig.run(Duration::millis(1));
  ASSERT_FALSE(psns(rig.a.lan, Cause::kFaultNak).empty());
  // What the receiver has is acknowledged first.
  EXPECT_EQ(acks(rig.a.lan), (Psns{101}));
  EXPECT_EQ(psns(rig.a.lan, Cause::kFaultNak)[0], 102u);
  rig.a.lan.clear();
  rig.from_a(write_only(103));  // it goes on: it is told again
  EXPECT_EQ(aeths(rig.a.lan).size(), 1u);
  EXPECT_TRUE(psns(rig.a.wan).empty());
}

// Bytes, not packets, also where the receiver's rate lets a packet through at a time.
TEST(Tags, E10_FlowsShareTheirReceiversRateByBytes) {
  static constexpr uint8_t kLarge[1024] = {};
  RigOptions o;
  o.config.tuning.egress = Rate{100'000'000};
  o.config.tuning.egress_burst_bytes = 1;
  PairRig rig(o);
  const Ends large, small{Qpn{0x13}, Qpn{0x24}, 20'000, 30'000};
  rig.connect(large);
  rig.connect(small);
  for (uint32_t i = 0; i < 600; ++i) {
    RoceSpec r = write_only(large.start_a + i);
    r.payload = kLarge;
    if (i < 100) rig.from_a(r, large);
    rig.from_a(write_only(small.start_a + i), small);
  }
  rig.carry_ab();
  rig.b.lan.clear();
  for (int i = 0; i < 60; ++i) rig.wait(Duration::micros(100));
  uint64_t of_large = 0, of_small = 0;
  for (const Left& l : rig.b.lan) (l.frame().dest_qp() == large.b ? of_large : of_small) += l.packet->size;
  EXPECT_GT(of_large + of_small, 60'000u);
  EXPECT_NEAR(static_cast<double>(of_large) / static_cast<double>(of_large + of_small), 0.5, 0.1);
}

TEST(Tags, H19_AsksForAnAckEveryN) {
  RigOptions o;
  o.config.tuning.dest_ack_every = 4;
  PairRig rig(o);
  rig.connect();
  rig.from_a(write_part(op::kRcWriteFirst, 100));
  for (uint32_t psn = 101; psn < 109; ++psn) rig.from_a(write_part(op::kRcWriteMiddle, psn));
  rig.carry_ab();
  Psns asked;
  for (const Left& l : rig.b.lan) {
    EXPECT_TRUE(icrc_ok(l.frame()));
    if (l.frame().ack_req()) asked.push_back(l.frame().psn().v);
  }
  EXPECT_EQ(asked, (Psns{103, 107}));
}

TEST(Tags, H19_AsksOnTheLastQueuedMessageEnd) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100, 1, false));
  rig.carry_ab();
  ASSERT_EQ(psns(rig.b.lan), (Psns{100}));
  EXPECT_TRUE(rig.b.lan[0].frame().ack_req());
}

TEST(Tags, H19_SilenceIsProbedWithTheOldestAlone) {
  PairRig rig;
  rig.connect();
  for (uint32_t psn = 100; psn < 103; ++psn) rig.from_a(write_only(psn));
  rig.carry_ab();
  rig.b.lan.clear();
  rig.wait(Duration::millis(5));
  EXPECT_EQ(psns(rig.b.lan), (Psns{100}));
  rig.from_b(answer(100, 1));  // it has the probe and nothing after: the rest was lost on the LAN
  EXPECT_EQ(psns(rig.b.lan), (Psns{100, 101, 102}));
}

// What comes meanwhile, of a flow whose packets went the short way before.
TEST(Tags, H19_NothingIsDeliveredWhileTheReceiverIsNotReady) {
  PairRig rig;
  rig.connect();
  for (uint32_t psn = 100; psn < 104; ++psn) {
    rig.from_a(write_only(psn));
    rig.carry_ab();
  }
  rig.from_b(answer(102, 3));
  rig.b.lan.clear();
  rig.from_b(answer(103, 3, kAethRnr | 10));  // 320 us
  rig.from_a(write_only(104));
  rig.carry_ab();
  EXPECT_TRUE(rig.b.lan.empty());
  rig.wait(Duration::millis(1));
  EXPECT_EQ(psns(rig.b.lan), (Psns{103, 104}));
}

}  // namespace
}  // namespace matchrdma::tags
