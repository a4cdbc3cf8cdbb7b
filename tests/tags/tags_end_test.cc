// How a flow ends: by a silent receiver (C9, C10), a reset QP (C4), a lost peer (PROTOCOL 8), UNREGISTER
// (PROTOCOL 3).
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tags/pair_rig.h"

namespace matchrdma::tags {
namespace {

/// A receiver that was heard once and then is silent for longer than the repair bound.
struct SilentReceiver : PairRig {
  static RigOptions options() {
    RigOptions o;
    o.config.timing.repair_bound = Duration::millis(50);
    return o;
  }
  SilentReceiver() : PairRig(options()) {
    connect();
    from_a(write_only(100));
    carry_ab();
    from_b(answer(100, 1));
    from_a(write_only(101));
    run(Duration::millis(200));
    a.lan.clear();
    b.lan.clear();
  }
};

TEST(Tags, C10_NoFaultWhereTheReceiverWasNeverHeard) {
  RigOptions o;
  o.config.timing.repair_bound = Duration::millis(50);
  PairRig rig(o);
  rig.connect();
  rig.from_a(write_only(100));
  rig.run(Duration::millis(300));
  EXPECT_EQ(rig.b.shard.counters().faults, 0u);
  EXPECT_EQ(rig.a.shard.owned_packets(), 1u);
}

TEST(Tags, H12_WhatTheReceiverHasDoesNotFailWithTheRest) {
  RigOptions o;
  o.completion = Completion::kEndToEnd;
  PairRig rig(o);
  rig.connect();
  rig.from_a(write_only(100));
  rig.from_a(write_only(101));
  rig.carry_ab();
  rig.from_b(answer(100, 1));
  rig.from_b(answer(101, 1, kNakRemoteAccess));  // before the report of 100 has left
  rig.run(Duration::millis(1));
  ASSERT_EQ(aeths(rig.a.lan).size(), 2u);
  EXPECT_EQ(aeths(rig.a.lan)[0].psn, 100u);
  EXPECT_EQ(aeths(rig.a.lan)[0].syndrome & 0xe0, kAethAck);
  EXPECT_EQ(aeths(rig.a.lan)[1].psn, 101u);
  EXPECT_EQ(aeths(rig.a.lan)[1].syndrome, kNakRemoteAccess);
  EXPECT_EQ(aeths(rig.a.lan)[1].msn, 1u);
}

TEST(Tags, H12_FaultNeverTellsFewerMessagesThanTheAcksBefore) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.from_a(write_only(101));
  rig.from_a(read_request(102, 64));
  rig.carry_ab();
  rig.from_b(answer(100, 0, kNakRemoteAccess));
  rig.run(Duration::millis(1));
  ASSERT_EQ(aeths(rig.a.lan).size(), 3u);
  EXPECT_EQ(aeths(rig.a.lan)[2].psn, 102u);
  EXPECT_EQ(aeths(rig.a.lan)[2].msn, 2u);
}

// What comes for the host with the peer's word that its QP has failed comes too late.
TEST(Tags, H12_QpThatFailsGetsNothingMoreInTheSameRun) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.run(Duration::millis(1));
  rig.wait(Duration::millis(10));
  const auto report = newest<CustodyAck>(rig.b.wan);
  ASSERT_TRUE(report.has_value());
  for (const uint32_t psn : {5000u, 5001u}) rig.from_b(write_only(psn));
  rig.run(Duration::millis(1));
  ASSERT_EQ(psns(rig.a.lan, Cause::kFirst), (Psns{5000, 5001}));
  rig.from_b(write_only(5002));
  std::vector<RxItem> burst;
  for (Left& l : rig.b.wan) {
    if (l.packet) burst.push_back({Side::kWan, std::move(l.packet)});
  }
  ASSERT_EQ(burst.size(), 1u);
  const std::vector<Message> said{FlowFault{report->id, kNakRemoteAccess, false, 0, Msn{}}};
  rig.a.shard.run_once(burst, said, rig.now(), rig.a.out);
  ASSERT_EQ(state_at(rig.a, true), "poisoned");
  for (const OutItem& item : rig.a.out.items()) EXPECT_FALSE(item.packet && item.cause == Cause::kFirst);
  rig.a.out.clear();
}

TEST(Tags, C9_SilentReceiverEndsCustodyButNotYetTheQp) {
  SilentReceiver rig;
  EXPECT_EQ(rig.b.shard.counters().faults, 1u);
  EXPECT_EQ(state_at(rig.a, true), "doubted");
  rig.from_a(write_only(102));
  EXPECT_TRUE(aeths(rig.a.lan).empty());
  rig.carry();
  EXPECT_EQ(psns(rig.b.lan), (Psns{102}));  // it passes
}

TEST(Tags, C9_SenderThatGoesBackToOurLastAckIsTold) {
  SilentReceiver rig;
  rig.from_a(write_only(102));
  rig.run(Duration::millis(100));
  rig.a.lan.clear();
  rig.from_a(write_only(102));
  ASSERT_EQ(aeths(rig.a.lan).size(), 1u);
  EXPECT_EQ(aeths(rig.a.lan)[0].syndrome, kNakRemoteOperation);
  EXPECT_EQ(aeths(rig.a.lan)[0].psn, 102u);
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  rig.run(Duration::millis(100));
  // The far host's own flow of that QP has failed with it.
  EXPECT_EQ(state_at(rig.b, true), "poisoned");
}

TEST(Tags, C9_SenderThatWaitsIsToldWhenTheDoubtEnds) {
  SilentReceiver rig;
  rig.from_a(write_only(102));
  rig.run(Duration::seconds(6));
  ASSERT_EQ(aeths(rig.a.lan).size(), 1u);
  EXPECT_EQ(aeths(rig.a.lan)[0].syndrome, kNakRemoteOperation);
  EXPECT_EQ(rig.a.shard.counters().rehash_events, 0u);
}

TEST(Tags, C9_IdleSenderIsAnEvent) {
  SilentReceiver rig;
  rig.run(Duration::seconds(6));
  EXPECT_TRUE(aeths(rig.a.lan).empty());
  EXPECT_EQ(rig.a.shard.counters().idle_fault_events, 1u);
  // Who it is can be looked up, until it asks something.
  const auto untold = [&rig] {
    const auto flows = rig.a.shard.flows();
    return std::count_if(flows.begin(), flows.end(), [](const FlowView& v) { return v.untold; });
  };
  EXPECT_EQ(untold(), 1);
  rig.from_a(write_only(102));
  EXPECT_EQ(untold(), 0);
}

TEST(Tags, C10_SenderAcknowledgedElsewhereIsLeftAlone) {
  SilentReceiver rig;
  for (uint32_t psn = 102; psn < 115; ++psn) {
    rig.from_a(write_only(psn));
    rig.run(Duration::millis(500));
    // One packet was lost on its way: the sender goes back, but to what nobody but us misses.
    if (psn == 106) rig.from_a(write_only(105));
  }
  EXPECT_EQ(rig.a.shard.counters().rehash_events, 1u);
  EXPECT_EQ(rig.a.shard.counters().fault_naks, 0u);
  EXPECT_TRUE(aeths(rig.a.lan).empty());
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  EXPECT_EQ(state_at(rig.a, true), "transparent");
  rig.b.lan.clear();
  rig.from_a(write_only(115));
  rig.carry();
  EXPECT_EQ(psns(rig.b.lan), (Psns{115}));
  rig.from_b(answer(115, 16));
  rig.carry();
  EXPECT_EQ(acks(rig.a.lan), (Psns{115}));
}

/// Four bursts that begin at `psn`, a time-out apart.
void begin_four_times(PairRig& rig, uint32_t psn) {
  for (int i = 0; i < 4; ++i) {
    rig.wait(Duration::millis(5));
    rig.from_a(write_only(psn));
    rig.from_a(write_only(psn + 1));
  }
}

TEST(Tags, C4_SenderThatBeginsFarAboveAgainAndAgainLivesAnew) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  begin_four_times(rig, 5000);
  EXPECT_EQ(rig.a.shard.counters().generations, 1u);
}

TEST(Tags, C4_LostHeadOfABurstIsNoNewLife) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  begin_four_times(rig, 140);
  EXPECT_EQ(rig.a.shard.counters().generations, 0u);
}

TEST(Tags, C4_OtherBeginningsFarAboveAreNoNewLife) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  for (uint32_t psn : {5000u, 5001u, 5002u, 5003u}) {
    rig.wait(Duration::millis(5));
    rig.from_a(write_only(psn));
  }
  EXPECT_EQ(rig.a.shard.counters().generations, 0u);
}

TEST(Tags, C4_SenderThatReturnsInBetweenIsTheOldOne) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  for (int i = 0; i < 4; ++i) {
    rig.wait(Duration::millis(5));
    rig.from_a(write_only(5000));
    rig.from_a(write_only(101));
  }
  EXPECT_EQ(rig.a.shard.counters().generations, 0u);
}

TEST(Tags, C5_FlowThatBeganBeforeItsRegistrationIsJoined) {
  PairRig rig;
  rig.connect();
  // 100 to 129 passed before anybody named the pair, so the gap below 130 can never close.
  rig.from_a(write_only(130));
  rig.wait(Duration::millis(5));
  EXPECT_TRUE(acks(rig.a.lan).empty());
  rig.a.wan.clear();
  rig.wait(Duration::millis(5));
  rig.from_a(write_only(130));
  EXPECT_EQ(psns(rig.a.wan), (Psns{130}));
  rig.run(Duration::millis(5));
  rig.from_a(write_only(131));
  rig.carry();
  rig.from_b(answer(131, 32));
  rig.run(Duration::millis(5));
  EXPECT_EQ(state_at(rig.a, true), "active");
  EXPECT_EQ(rig.a.shard.counters().generations, 0u);
}

TEST(Tags, C4_RegisteredResetIsANewGeneration) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  Ends again;
  again.start_a = 7000;
  ASSERT_TRUE(rig.register_at_a(rig.registration()));
  EXPECT_EQ(rig.a.shard.counters().generations, 0u);  // the same words again change nothing
  ASSERT_TRUE(rig.register_at_a(rig.registration(again)));
  EXPECT_EQ(rig.a.shard.counters().generations, 1u);
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  rig.from_a(write_only(7000));
  EXPECT_TRUE(acks(rig.a.lan) == Psns{100});  // the new one waits for the end of the old one
  rig.b.lan.clear();
  rig.run(Duration::millis(1));
  EXPECT_EQ(psns(rig.b.lan).back(), 7000u);
}

TEST(Tags, C4_FaultDuringACloseStillAnswersTheClose) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.carry_ab();
  Ends again;
  again.start_a = 7000;
  ASSERT_TRUE(rig.register_at_a(rig.registration(again)));
  const auto close = newest<FlowClose>(rig.a.wan);
  ASSERT_TRUE(close.has_value());
  const auto marker = std::find_if(rig.a.wan.begin(), rig.a.wan.end(), [](const Left& l) {
    return !l.packet && std::holds_alternative<CloseMarker>(l.message);
  });
  ASSERT_NE(marker, rig.a.wan.end());
  rig.a.wan.erase(marker);
  rig.say(rig.a, FlowFault{close->id, kNakRemoteOperation, false, 0, Msn{}});
  EXPECT_EQ(state_at(rig.a, true), "poisoned");
  rig.run(Duration::millis(100));
  EXPECT_EQ(state_at(rig.b, false), "idle");
}

TEST(Tags, PeerLost_UnacknowledgedTailIsTheSendersAgain) {
  RigOptions o;
  o.completion = Completion::kEndToEnd;
  PairRig rig(o);
  rig.connect();
  rig.from_a(write_part(op::kRcWriteFirst, 100, true));
  rig.from_a(write_part(op::kRcWriteLast, 101, true));
  EXPECT_EQ(acks(rig.a.lan), (Psns{100}));
  EXPECT_EQ(rig.a.shard.owned_packets(), 2u);
  rig.wait(Duration::millis(250));
  EXPECT_EQ(rig.a.shard.owned_packets(), 1u);
  rig.from_a(write_only(102));  // nothing new is taken
  EXPECT_EQ(rig.a.shard.owned_packets(), 1u);
  rig.a.wan.clear();  // the span was down
  rig.run(Duration::millis(30));
  rig.from_a(write_part(op::kRcWriteLast, 101, true));
  rig.from_a(write_only(102));
  rig.run(Duration::millis(30));
  EXPECT_EQ(psns(rig.b.lan, Cause::kFirst), (Psns{100, 101, 102}));
}

TEST(Tags, PeerLost_NobodyWaitsForTheDiscardedTail) {
  RigOptions o;
  o.completion = Completion::kEndToEnd;
  PairRig rig(o);
  rig.connect();
  rig.from_a(write_part(op::kRcWriteFirst, 100, true));
  rig.from_a(write_part(op::kRcWriteLast, 101, true));
  lose(rig.a.wan, 101);
  rig.wait(Duration::millis(250));  // 101 was sent, is discarded, and its sender never comes back
  rig.run(Duration::millis(30));
  rig.from_b(answer(100, 1));
  rig.run(Duration::millis(30));
  EXPECT_FALSE(rig.b.shard.busy());
}

TEST(Tags, PeerLost_FlowThatOwesNothingPasses) {
  RigOptions o;
  o.completion = Completion::kEndToEnd;
  PairRig rig(o);
  rig.connect();
  rig.from_a(write_only(100));
  rig.wait(Duration::millis(250));
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  rig.a.wan.clear();
  rig.from_a(write_only(100));
  EXPECT_EQ(psns(rig.a.wan), (Psns{100}));
  EXPECT_TRUE(acks(rig.a.lan).empty());
}

TEST(Tags, PeerLost_WhatWasAcknowledgedIsKept) {
  PairRig rig;
  rig.connect();
  for (uint32_t psn = 100; psn < 103; ++psn) rig.from_a(write_only(psn));
  rig.a.wan.clear();
  rig.wait(Duration::seconds(2));
  EXPECT_EQ(rig.a.shard.owned_packets(), 3u);
  rig.a.wan.clear();
  rig.run(Duration::seconds(1));
  EXPECT_EQ(psns(rig.b.lan, Cause::kFirst), (Psns{100, 101, 102}));
}

TEST(Tags, Unregister_DestroysAtBothBeforeItIsAnswered) {
  PairRig rig;
  rig.connect();
  for (uint32_t psn = 100; psn < 103; ++psn) rig.from_a(write_only(psn));
  rig.unregister_at_a(rig.registration());
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  EXPECT_FALSE(rig.a.shard.unregistered(rig.registration()));
  EXPECT_FALSE(newest<UnregisterQp>(rig.a.wan).has_value());  // not before the old packets have left the span
  EXPECT_FALSE(rig.register_at_a(rig.registration()));
  rig.run(Duration::millis(100));
  EXPECT_TRUE(rig.a.shard.unregistered(rig.registration()));
  EXPECT_TRUE(rig.a.shard.flows().empty());
  EXPECT_TRUE(rig.b.shard.flows().empty());
  EXPECT_EQ(rig.b.shard.counters().held_bytes, 0u);
  rig.b.lan.clear();
  rig.from_a(write_only(103));  // nobody's any more
  rig.carry();
  EXPECT_EQ(psns(rig.b.lan), (Psns{103}));
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
}

TEST(Tags, Unregister_StaleWordsChangeNothing) {
  PairRig rig;
  const Registration r = rig.registration();
  ASSERT_TRUE(rig.register_at_a(r));
  const RegisterQp early = *newest<RegisterQp>(rig.a.wan);
  rig.run(Duration::millis(1));
  rig.unregister_at_a(r);
  rig.run(Duration::millis(100));
  rig.say(rig.b, early);
  EXPECT_TRUE(rig.b.shard.flows().empty());
  ASSERT_TRUE(rig.register_at_a(r));
  rig.run(Duration::millis(1));
  ASSERT_EQ(rig.b.shard.flows().size(), 2u);
  rig.say(rig.b, UnregisterQp{r, early.seq + 1});
  EXPECT_EQ(rig.b.shard.flows().size(), 2u);
  EXPECT_EQ(state_at(rig.b, true), "active");
  rig.from_a(write_only(100));
  EXPECT_EQ(acks(rig.a.lan), (Psns{100}));
}

TEST(Tags, Unregister_OfAnUnknownPairIsAnsweredToo) {
  PairRig rig;
  rig.unregister_at_a(rig.registration());
  rig.run(Duration::millis(100));
  EXPECT_TRUE(rig.a.shard.unregistered(rig.registration()));
}

TEST(Tags, C5_AnswerToARepeatedReadDoesNotAnchorTheMsn) {
  RigOptions o;
  o.fresh = false;
  PairRig rig(o);
  rig.connect();
  rig.from_a(write_only(100));  // base stands behind it
  rig.carry();
  rig.from_a(read_request(101, 64));
  rig.from_a(write_only(102));
  rig.carry();
  rig.from_a(read_request(101, 64));  // its response was lost
  rig.carry();
  rig.from_b(response(op::kRcReadRespOnly, 101, 9));  // 9 counts the write at 102 already
  rig.carry();
  rig.from_b(answer(102, 9));
  rig.carry();
  rig.a.lan.clear();
  rig.from_a(write_only(103));
  ASSERT_EQ(aeths(rig.a.lan).size(), 1u);
  EXPECT_EQ(aeths(rig.a.lan)[0].msn, 10u);
}

TEST(Tags, C2_AnswerWithheldByAFenceComesWhenItLifts) {
  PairRig rig;
  rig.connect();
  rig.from_a(read_request(100, 64));
  rig.from_a(write_only(101));
  rig.carry();
  rig.from_b(response(op::kRcReadRespOnly, 100, 1));
  rig.run(Duration::millis(5));
  EXPECT_EQ(acks(rig.a.lan), (Psns{101}));
  // The sender missed the response, and goes back: it waits for the response, and for this ACK again.
  rig.a.lan.clear();
  rig.from_a(read_request(100, 64));
  rig.from_a(write_only(101));
  rig.run(Duration::millis(5));
  EXPECT_TRUE(acks(rig.a.lan).empty());
  rig.from_b(response(op::kRcReadRespOnly, 100, 2));
  rig.run(Duration::millis(5));
  EXPECT_EQ(acks(rig.a.lan), (Psns{101}));
}

RigOptions joined_mid_flow() {
  RigOptions o;
  o.fresh = false;
  return o;
}

/// One request and its answer, everything carried.
void talk(PairRig& rig, uint32_t psn) {
  rig.from_a(write_only(psn));
  rig.run(Duration::millis(25));
  rig.from_b(answer(psn, psn - 99));
  rig.run(Duration::millis(1));
}

// A flow whose barrier the answer to an older packet has lifted owned nothing yet: it is new, not idle.
TEST(Tags, S3_FlowThatBecomesActiveIsNotIdleHoweverOldTheProxyIs) {
  PairRig rig(joined_mid_flow());
  rig.run(Duration::seconds(100));
  ASSERT_TRUE(rig.register_at_a(rig.registration()));
  rig.run(Duration::millis(1));
  rig.from_a(write_only(100));  // opens; passes untracked
  rig.run(Duration::micros(1));
  rig.from_b(answer(100, 1));
  const uint64_t untracked = rig.a.shard.counters().reasons.n[static_cast<size_t>(Reason::kUntracked)];
  rig.run(Duration::millis(25));
  EXPECT_EQ(rig.a.shard.flows()[0].state, std::string("active"));
  for (uint32_t psn = 101; psn < 106; ++psn) talk(rig, psn);
  EXPECT_EQ(rig.a.shard.counters().reasons.n[static_cast<size_t>(Reason::kUntracked)], untracked);
  EXPECT_EQ(rig.b.shard.counters().reasons.n[static_cast<size_t>(Reason::kClosing)], 0u);
}

// A flow that is forgotten for having been idle passes at once, and so must what was on the span meanwhile.
TEST(Tags, S3_NothingOfTheSameLifeIsDroppedWhileAFlowIsForgotten) {
  PairRig rig;
  rig.connect();
  talk(rig, 100);
  rig.wait(Duration::seconds(61));  // idle: CLOSE is said, and under way
  ASSERT_TRUE(newest<FlowClose>(rig.a.wan));
  rig.from_a(write_only(101));  // the sender goes on just now
  rig.b.lan.clear();
  rig.carry();
  EXPECT_EQ(psns(rig.b.lan), Psns{101});
}

/// A QP that has failed while its sender has all of 100 to 103 acknowledged.
struct Failed : PairRig {
  Failed() {
    connect();
    for (uint32_t psn = 100; psn < 104; ++psn) from_a(write_only(psn));
    run(Duration::millis(1));
    const auto report = newest_report();
    say(a, FlowFault{report.id, kNakRemoteOperation, false, report.confirmed_end, report.msn_real});
    EXPECT_EQ(state_at(a, true), "poisoned");
    a.lan.clear();
  }
  CustodyAck newest_report() {
    from_b(answer(103, 4));
    wait(Duration::millis(1));
    const auto report = newest<CustodyAck>(b.wan);
    EXPECT_TRUE(report.has_value());
    return report.value_or(CustodyAck{});
  }
  Psns faults() {
    Psns at;
    for (const Aeth& e : aeths(a.lan)) at.push_back(e.psn);
    a.lan.clear();
    return at;
  }
};

// A NAK acknowledges what stands before it: of two packets that a LAN swapped, the later one shows nothing
// (swarm seed 5000732).
TEST(Tags, H12_FaultDoesNotRiseWhereALanReorders) {
  Failed rig;
  for (const uint32_t psn : {104u, 107u, 106u, 105u}) rig.from_a(write_only(psn));
  EXPECT_EQ(rig.faults(), (Psns{104, 104, 104, 104}));
}

// The head of a round may be lost on the LAN, so one round proves nothing.
TEST(Tags, H12_FaultRisesToWhatTheSenderGoesBackToAgainAndAgain) {
  Failed rig;
  for (int round = 0; round < 3; ++round) {
    rig.wait(Duration::millis(5));
    for (const uint32_t psn : {106u, 105u, 107u}) rig.from_a(write_only(psn));
    EXPECT_EQ(rig.faults(), (Psns{104, 104, 104})) << round;
  }
  rig.wait(Duration::millis(5));
  rig.from_a(write_only(105));
  EXPECT_EQ(rig.faults(), (Psns{105}));
}

}  // namespace
}  // namespace matchrdma::tags
