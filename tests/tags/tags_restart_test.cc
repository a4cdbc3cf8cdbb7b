// A proxy starts anew while flows run (PROTOCOL 8).
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tags/confirm_first.h"

namespace matchrdma::tags {
namespace {

FlowView flow_at(const Proxy& p, bool source) {
  for (const FlowView& v : p.shard.flows()) {
    if (v.source == source) return v;
  }
  return {};
}

/// Four acknowledged packets, of which the receiver has two and has acknowledged none.
struct FourOwned : PairRig {
  explicit FourOwned(const RigOptions& o = {}) : PairRig(o) {
    connect();
    for (uint32_t psn = 100; psn < 104; ++psn) from_a(write_only(psn));
    lose(a.wan, 102);
    lose(a.wan, 103);
    carry();
    EXPECT_EQ(acks(a.lan), (Psns{100, 101, 102, 103}));
    EXPECT_EQ(psns(b.lan), (Psns{100, 101}));
    a.lan.clear();
    b.lan.clear();
  }
};

/// What A asks is answered as by a peer whose table is full, and does not reach the real one.
void refuse_again(PairRig& rig) {
  const auto open = newest<FlowOpen>(rig.a.wan);
  rig.a.wan.clear();
  if (open) rig.say(rig.a, FlowOpened{open->id, OpenAnswer::kRefused});
}

TEST(Tags, S8_DestinationRestartsAndGetsEverythingOwnedInOrder) {
  FourOwned rig;
  rig.restart(rig.b);
  EXPECT_STREQ(flow_at(rig.a, true).state, "reopening");
  rig.run(Duration::millis(5));
  EXPECT_STREQ(flow_at(rig.a, true).state, "active");
  EXPECT_EQ(psns(rig.b.lan, Cause::kFirst), (Psns{100, 101, 102, 103}));
  rig.from_b(answer(103, 4));
  rig.run(Duration::millis(5));
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  EXPECT_TRUE(naks(rig.a.lan).empty());
  rig.from_a(write_only(104));
  rig.carry();
  EXPECT_EQ(acks(rig.a.lan).back(), 104u);
  EXPECT_EQ(psns(rig.b.lan).back(), 104u);
}

TEST(Tags, S8_EverythingIsResentAtOnceWhenThePeerKnowsBase) {
  FourOwned rig;
  rig.restart(rig.b);
  rig.carry();  // no time passes: no mark or time-out asks for it
  EXPECT_EQ(psns(rig.b.lan, Cause::kFirst), (Psns{100, 101, 102, 103}));
}

TEST(Tags, C9_ReceiverHeardBeforeTheRestartIsGivenUpInTheUsualTime) {
  PairRig rig;
  confirm_first(rig);
  rig.from_a(write_only(101));
  rig.restart(rig.b);
  rig.run(Duration::seconds(59));
  EXPECT_STREQ(flow_at(rig.a, true).state, "active");
  rig.run(Duration::seconds(10));  // repair_bound, and the doubt
  EXPECT_STREQ(flow_at(rig.a, true).state, "poisoned");
}

TEST(Tags, C9_ReceiverNeverHeardIsGivenMorePatience) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.restart(rig.b);
  rig.run(Duration::seconds(69));
  EXPECT_STREQ(flow_at(rig.a, true).state, "active");
}

// It acknowledges all it has at every duplicate: more than the new life has delivered, and can hold (seed
// 539972).
TEST(Tags, S8_ReceiverMayHaveMoreThanTheNewLifeDelivers) {
  RigOptions o;
  o.config.limits.reorder_memory = 4096;  // a quarter for a flow: eight packets
  PairRig rig(o);
  rig.connect();
  for (uint32_t psn = 100; psn < 130; ++psn) {
    rig.from_a(write_only(psn));
    rig.carry_ab();
    rig.from_b(answer(psn, psn - 99));
    rig.b.wan.clear();  // no report leaves
  }
  ASSERT_EQ(rig.a.shard.owned_packets(), 30u);
  rig.restart(rig.b);
  for (int i = 0; i < 100 && rig.a.shard.owned_packets() > 0; ++i) {
    rig.b.lan.clear();
    rig.run(Duration::millis(1));
    for (size_t n = rig.b.lan.size(); n > 0; --n) rig.from_b(answer(129, 30));
  }
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  rig.from_a(write_only(130));
  rig.carry();
  EXPECT_EQ(acks(rig.a.lan).back(), 130u);
}

// Half of a READ's responses confirm nothing: the PSN that a new destination is given is that of a request.
TEST(Tags, S8_ReadThatIsHalfAnsweredIsGivenWholeToANewDestination) {
  PairRig rig;
  rig.connect();
  rig.from_a(read_request(100, 4096));
  rig.from_a(write_only(104));
  rig.carry_ab();
  rig.from_b(response(op::kRcReadRespFirst, 100, 1));
  rig.from_b(response(op::kRcReadRespMiddle, 101, 1));
  rig.run(Duration::millis(2));  // the destination has told how far the receiver is
  rig.restart(rig.b);
  rig.b.lan.clear();
  rig.run(Duration::millis(5));
  EXPECT_EQ(psns(rig.b.lan, Cause::kFirst), (Psns{100, 104}));
  rig.from_b(response(op::kRcReadRespFirst, 100, 1));
  for (const uint32_t psn : {101u, 102u}) rig.from_b(response(op::kRcReadRespMiddle, psn, 1));
  rig.from_b(response(op::kRcReadRespLast, 103, 1));
  rig.from_b(answer(104, 2));
  rig.run(Duration::millis(5));
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
}

// Nobody but its own source vouches for what a receiver claims to have.
TEST(Tags, S8_AckBeyondWhatTheSourceSentCountsForNothing) {
  FourOwned rig;
  rig.restart(rig.b);
  rig.run(Duration::millis(5));
  lose(rig.b.lan, 103);
  rig.from_b(answer(110, 11));
  rig.run(Duration::millis(1));
  EXPECT_EQ(rig.a.shard.owned_packets(), 4u);
}

TEST(Tags, S8_NothingIsResentBeforeThePeerKnowsBase) {
  FourOwned rig;
  rig.restart(rig.b);
  rig.to_a_wan(answer(102, 2, kNakSequence));  // the receiver's own, past the new proxy (H6)
  EXPECT_TRUE(psns(rig.a.wan).empty());
  EXPECT_TRUE(rig.a.lan.empty());
  rig.carry();
  EXPECT_EQ(psns(rig.b.lan, Cause::kFirst), (Psns{102, 103}));
}

TEST(Tags, S8_NoNewCustodyUntilTheRestartedPeerKnowsTheFlow) {
  FourOwned rig;
  rig.restart(rig.b);
  rig.from_a(write_only(104));
  EXPECT_TRUE(rig.a.lan.empty());
  EXPECT_TRUE(psns(rig.a.wan).empty());
  EXPECT_EQ(rig.a.shard.owned_packets(), 4u);
  rig.run(Duration::millis(5));
  rig.from_a(write_only(104));  // the sender, unanswered, sends it again
  EXPECT_EQ(acks(rig.a.lan), (Psns{104}));
}

TEST(Tags, S8_RawAnswersAreHonouredWhileTheFlowIsOpenedAgain) {
  FourOwned rig;
  rig.restart(rig.b);
  rig.from_b(answer(101, 2));  // B knows nothing of the flow: it passes
  for (Left& l : rig.b.wan) {
    if (l.packet) rig.raw(rig.a, Side::kWan, l.packet->bytes());
  }
  EXPECT_TRUE(rig.a.lan.empty());
  EXPECT_EQ(rig.a.shard.owned_packets(), 2u);
  rig.run(Duration::millis(5));
  EXPECT_EQ(psns(rig.b.lan, Cause::kFirst), (Psns{102, 103}));
}

Registration another_pair(const PairRig& rig) {
  Ends other;
  other.a = Qpn{0x31};
  other.b = Qpn{0x32};
  return rig.registration(other);
}

RigOptions room_for_one_pair() {
  RigOptions o;
  o.max_flows = 2;
  return o;
}

// The new life learned another pair first, and its table is full (swarm seed 703995).
TEST(Tags, S8_CustodyOfThePeerComesBeforeAPairThatRests) {
  FourOwned rig(room_for_one_pair());
  rig.restart(rig.b);
  rig.say(rig.b, RegisterQp{another_pair(rig), 1});
  ASSERT_TRUE(newest<RegisterQpAck>(rig.b.wan));
  rig.carry_ab();
  EXPECT_EQ(state_at(rig.b, true), "opening");  // it does not rest yet
  rig.run(Duration::millis(1100));
  EXPECT_EQ(psns(rig.b.lan, Cause::kFirst), (Psns{100, 101, 102, 103}));
  EXPECT_EQ(state_at(rig.a, true), "active");
}

TEST(Tags, S8_CustodyOfThePeerEndsNoPairThatIsAtWork) {
  FourOwned rig(room_for_one_pair());
  rig.restart(rig.b);
  const Registration other = another_pair(rig);
  const FlowId id{7};
  rig.say(rig.b, FlowOpen{id, other.flow(true), other.a.qpn, 1024, Completion::kEarly, false, true, false});
  rig.say(rig.b, FlowBase{id, 1000, true, false});
  ASSERT_EQ(state_at(rig.b, false), "active");
  rig.run(Duration::millis(5));
  EXPECT_EQ(state_at(rig.b, false), "active");
  EXPECT_EQ(state_at(rig.a, true), "reopening");
  EXPECT_EQ(rig.a.shard.owned_packets(), 4u);
}

// The far side has no room for it and lets everything pass: once nothing is owed, the sender is heard again
// (swarm seed 1651128877).
TEST(Tags, S8_FlowThatIsNotOpenedAgainPassesOnceItOwesNothing) {
  FourOwned rig;
  rig.restart(rig.b);
  refuse_again(rig);
  rig.from_b(answer(103, 4));
  rig.carry_ba();
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  rig.carry();
  rig.from_a(write_only(104));
  EXPECT_EQ(psns(rig.a.wan), (Psns{104}));
}

TEST(Tags, S8_CustodyOfAFlowThatIsNeverOpenedAgainEndsInAFault) {
  RigOptions o;
  o.config.timing.custody_max_age = Duration::seconds(5);
  FourOwned rig(o);
  rig.restart(rig.b);
  const auto stay_refused = [&](Duration d) {
    for (Duration done; done < d; done = done + Duration::millis(50)) {
      rig.say(rig.a, Probe{rig.now()});  // the peer is there all the time
      refuse_again(rig);
      rig.wait(Duration::millis(50));
    }
  };
  stay_refused(Duration::millis(4900));
  EXPECT_EQ(state_at(rig.a, true), "reopening");
  EXPECT_EQ(rig.a.shard.owned_packets(), 4u);
  stay_refused(Duration::millis(200));
  EXPECT_EQ(state_at(rig.a, true), "poisoned");
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
}

TEST(Tags, S8_LostWordsOfTheReopeningAreSaidAgain) {
  FourOwned rig;
  rig.restart(rig.b);
  for (int i = 0; i < 3; ++i) {
    lose_messages(rig.a.wan);
    rig.wait(Duration::millis(40));
    rig.carry_ab();
    lose_messages(rig.b.wan);
  }
  rig.run(Duration::millis(200));
  EXPECT_EQ(psns(rig.b.lan, Cause::kFirst), (Psns{100, 101, 102, 103}));
}

TEST(Tags, S8_PeerThatStartsTwiceIsToldTwice) {
  FourOwned rig;
  rig.restart(rig.b);
  rig.carry_ab();
  rig.restart(rig.b);
  rig.run(Duration::millis(5));
  EXPECT_EQ(psns(rig.b.lan, Cause::kFirst), (Psns{100, 101, 102, 103}));
}

TEST(Tags, S8_FlowThatOwesNothingPassesAndIsLearnedAnew) {
  PairRig rig;
  confirm_first(rig);
  ASSERT_EQ(rig.a.shard.owned_packets(), 0u);
  rig.restart(rig.b);
  rig.a.lan.clear();
  rig.b.lan.clear();
  rig.from_a(write_only(101));
  EXPECT_TRUE(rig.a.lan.empty());
  rig.carry();
  EXPECT_EQ(psns(rig.b.lan), (Psns{101}));
  rig.from_b(answer(101, 2));
  rig.run(Duration::millis(5));
  rig.from_a(write_only(102));
  rig.carry();
  rig.from_b(answer(102, 3));
  rig.run(Duration::millis(5));
  EXPECT_STREQ(flow_at(rig.a, true).state, "active");
}

TEST(Tags, S8_SourceRestartsAndNothingIsHeldForItAnyMore) {
  FourOwned rig;
  rig.restart(rig.a);
  EXPECT_STREQ(flow_at(rig.b, false).state, "idle");
  rig.from_a(write_only(102));
  rig.carry();
  EXPECT_EQ(psns(rig.b.lan, Cause::kForward), (Psns{102}));
  rig.from_b(answer(102, 3));
  rig.carry();
  EXPECT_EQ(acks(rig.a.lan), (Psns{102}));
}

TEST(Tags, S8_NewSessionAnswersAClose) {
  FourOwned rig;
  Ends again;
  again.start_a = 7000;
  ASSERT_TRUE(rig.register_at_a(rig.registration(again)));
  ASSERT_STREQ(flow_at(rig.a, true).state, "closing");
  rig.from_a(write_only(7000));
  rig.restart(rig.b);
  EXPECT_STREQ(flow_at(rig.a, true).state, "paired");
  EXPECT_EQ(psns(rig.a.wan), (Psns{7000}));
}

TEST(Tags, S8_RegistrationsAreToldAgain) {
  PairRig rig;
  rig.connect();
  rig.restart(rig.b);
  EXPECT_FALSE(rig.a.shard.registered(rig.registration()));
  rig.run(Duration::millis(5));
  EXPECT_EQ(rig.b.shard.flows().size(), 2u);
}

// More flows than an outbox holds messages have something to say at one time: when the peer starts anew, and
// when it is lost.
TEST(Tags, S8_MoreFlowsThanAnOutboxHoldsBeginAnew) {
  constexpr uint32_t kPairs = 2000;
  RigOptions o;
  o.max_flows = 2 * kPairs;
  PairRig rig(o);
  std::vector<Registration> all;
  for (uint32_t i = 0; i < kPairs; ++i) {
    Ends e;
    e.a = Qpn{1000 + i};
    e.b = Qpn{100'000 + i};
    all.push_back(rig.registration(e));
    ASSERT_TRUE(rig.register_at_a(all.back()));
    rig.carry();
  }
  const auto registered = [&] {
    return std::count_if(all.begin(), all.end(),
                         [&](const Registration& r) { return rig.a.shard.registered(r); });
  };
  rig.run(Duration::millis(100));
  ASSERT_EQ(registered(), kPairs);
  rig.restart(rig.b);
  rig.run(Duration::millis(200));
  EXPECT_EQ(registered(), kPairs);
  rig.wait(Duration::millis(300));  // nothing is carried
  rig.run(Duration::millis(200));
  EXPECT_EQ(registered(), kPairs);
}

TEST(Tags, S8_CustodyForAPeerThatStaysAwayEndsInAFault) {
  RigOptions o;
  o.config.timing.custody_max_age = Duration::seconds(2);
  PairRig rig(o);
  rig.connect();
  rig.from_a(write_only(100));
  rig.a.lan.clear();
  rig.wait(Duration::millis(1900));
  EXPECT_EQ(rig.a.shard.owned_packets(), 1u);
  rig.wait(Duration::millis(500));
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  EXPECT_STREQ(flow_at(rig.a, true).state, "poisoned");
}

TEST(Tags, H13_JournalSaysWhatIsPromisedAndNotConfirmed) {
  PairRig rig;
  rig.connect();
  EXPECT_TRUE(rig.a.journal.empty());
  rig.from_a(write_only(100));
  ASSERT_EQ(rig.a.journal.size(), 1u);
  EXPECT_TRUE(rig.a.journal[0].promised);
  EXPECT_EQ(rig.a.journal[0].acked_end.v, 101u);
  EXPECT_EQ(rig.a.journal[0].confirmed_end.v, 100u);
  rig.carry();
  rig.from_b(answer(100, 1));
  rig.run(Duration::millis(1));
  ASSERT_EQ(rig.a.journal.size(), 2u);
  EXPECT_FALSE(rig.a.journal[1].promised);
  EXPECT_EQ(rig.a.journal[1].slot, rig.a.journal[0].slot);
}

TEST(Tags, H13_EndToEndPromisesNothing) {
  RigOptions o;
  o.completion = Completion::kEndToEnd;
  PairRig rig(o);
  confirm_first(rig);
  EXPECT_TRUE(rig.a.journal.empty());
}

TEST(Tags, H13_SourceThatLostCustodyFailsTheQpLoudly) {
  FourOwned rig;
  rig.restart(rig.a);
  rig.read_journal(rig.a);
  EXPECT_STREQ(flow_at(rig.a, true).state, "poisoned");
  rig.from_a(write_only(105));  // 104 was lost on the LAN: the oldest outstanding is what follows our last ACK
  ASSERT_EQ(aeths(rig.a.lan).size(), 1u);
  EXPECT_EQ(aeths(rig.a.lan)[0].syndrome, kNakRemoteOperation);
  EXPECT_EQ(aeths(rig.a.lan)[0].psn, 104u);
  EXPECT_TRUE(psns(rig.a.wan).empty());
}

/// Both ends promise: b's WRITE was acknowledged and did not reach a, a's did not reach b.
struct BothOwe : PairRig {
  BothOwe() {
    connect();
    from_b(write_only(5000));
    b.wan.clear();
    from_a(write_only(100));
    from_a(write_only(101));
    a.wan.clear();
    EXPECT_EQ(acks(b.lan), (Psns{5000}));
    EXPECT_EQ(acks(a.lan), (Psns{100, 101}));
    a.lan.clear();
    b.lan.clear();
  }
};

TEST(Tags, H13_QpFailedFromTheJournalFailsAtThePeerToo) {
  BothOwe rig;
  rig.restart(rig.b);
  rig.read_journal(rig.b);
  rig.run(Duration::millis(50));
  EXPECT_STREQ(flow_at(rig.a, true).state, "poisoned");
  rig.from_a(write_only(102));
  ASSERT_EQ(aeths(rig.a.lan).size(), 1u);
  EXPECT_EQ(aeths(rig.a.lan)[0].syndrome, kNakRemoteOperation);
  EXPECT_EQ(aeths(rig.a.lan)[0].psn, 102u);
  EXPECT_TRUE(psns(rig.b.lan).empty());
}

TEST(Tags, H13_QpFailedFromTheJournalFailsAtThePeerThatOwesNothing) {
  PairRig rig;
  confirm_first(rig);
  rig.from_b(write_only(5000));
  rig.b.wan.clear();
  rig.restart(rig.b);
  rig.read_journal(rig.b);
  rig.run(Duration::millis(50));
  rig.a.lan.clear();
  rig.from_a(write_only(101));  // the flow is opened again for it
  rig.run(Duration::millis(50));
  EXPECT_TRUE(acks(rig.a.lan).empty());
  EXPECT_STREQ(flow_at(rig.a, true).state, "poisoned");
}

TEST(Tags, H13_NothingPromisedNothingFails) {
  PairRig rig;
  confirm_first(rig);
  rig.restart(rig.a);
  rig.read_journal(rig.a);
  rig.a.lan.clear();
  rig.from_a(write_only(101));
  EXPECT_EQ(psns(rig.a.wan), (Psns{101}));
  EXPECT_TRUE(rig.a.lan.empty());
}

TEST(Tags, H13_WhoCouldNotBeToldIsAnEvent) {
  for (const bool speaks : {true, false}) {
    FourOwned rig;
    rig.restart(rig.a);
    rig.read_journal(rig.a);
    if (speaks) rig.from_a(write_only(104));
    EXPECT_EQ(rig.a.shard.counters().idle_fault_events, 0u);  // it may speak yet
    rig.run(Duration::seconds(61));
    EXPECT_EQ(rig.a.shard.counters().idle_fault_events, speaks ? 0u : 1u);
  }
}

TEST(Tags, H13_FailedQpIsForgottenWhenItsSenderHasStopped) {
  FourOwned rig;
  rig.restart(rig.a);
  rig.read_journal(rig.a);
  rig.from_a(write_only(104));
  rig.run(Duration::seconds(61));
  rig.a.lan.clear();
  rig.from_a(write_only(9000));  // another QP may have the number now
  EXPECT_TRUE(rig.a.lan.empty());
  EXPECT_EQ(psns(rig.a.wan), (Psns{9000}));
}

}  // namespace
}  // namespace matchrdma::tags
