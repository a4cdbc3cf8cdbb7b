// How a pair is learned and when it is not believed any more (PROTOCOL 3; C6, C8, C10).
#include <gtest/gtest.h>

#include <array>

#include "dataplane/wire/cm_mad.h"
#include "dataplane/wire/source_port.h"
#include "tests/tags/pair_rig.h"

namespace matchrdma::tags {
namespace {

/// A CM MAD (IBA 12.6) as the hosts send it: UD SEND_ONLY to QP 1.
class Mad {
 public:
  Mad(uint16_t attribute, uint32_t local_id, uint32_t remote_id) {
    bytes_[0] = 1, bytes_[1] = 7, bytes_[2] = 2, bytes_[3] = 3;
    store_be16(&bytes_[16], attribute);
    store_be32(&bytes_[24], local_id);
    if (attribute != CmMad::kReq) store_be32(&bytes_[28], remote_id);
  }
  Mad& req(Qpn qpn, uint32_t psn) {
    store_be24(&bytes_[24 + 32], qpn.v);
    store_be24(&bytes_[24 + 44], psn);
    bytes_[24 + 50] = 3 << 4;  // path MTU 1024
    return *this;
  }
  Mad& rep(Qpn qpn, uint32_t psn) {
    store_be24(&bytes_[24 + 12], qpn.v);
    store_be24(&bytes_[24 + 20], psn);
    return *this;
  }
  Mad& dreq(Qpn qpn) {
    store_be24(&bytes_[24 + 8], qpn.v);
    return *this;
  }
  RoceSpec spec() const {
    RoceSpec r;
    r.opcode = op::kUdSendOnly;
    r.dest_qp = r.source_qp = Qpn{1};
    r.qkey = 0x80010000;
    r.payload = bytes_;
    return r;
  }

 private:
  std::array<uint8_t, 256> bytes_{};
};

RigOptions learning() {
  RigOptions o;
  o.config.tuning.learned = Completion::kEarly;
  o.config.timing.initial_rtt = Duration::millis(1);
  return o;
}

Ends hashed() {
  Ends e;
  e.port = hashed_source_port(e.a, e.b);
  return e;
}

/// REQ and REP; the hosts do not wait for more.
void connect_by_cm(PairRig& rig, const Ends& e, uint32_t id) {
  rig.from_a(Mad(CmMad::kReq, id, 0).req(e.a, e.start_b).spec());
  rig.carry();
  rig.from_b(Mad(CmMad::kRep, id + 1, id).rep(e.b, e.start_a).spec());
  rig.run(Duration::millis(20));
}

/// WRITEs of two packets from `psn` on, each answered; nobody helps.
void talk(PairRig& rig, const Ends& e, int messages, uint32_t psn, uint32_t msn = 0) {
  for (int i = 0; i < messages; ++i, psn += 2) {
    RoceSpec first = write_part(op::kRcWriteFirst, psn);
    static const std::array<uint8_t, 1024> kFull{};
    first.payload = kFull;
    rig.from_a(first, e);
    rig.from_a(write_part(op::kRcWriteLast, psn + 1, true), e);
    rig.run(Duration::micros(500));
    rig.from_b(answer(psn + 1, ++msn), e);
    rig.run(Duration::micros(500));
  }
}

uint64_t pseudo_acks(const PairRig& rig) { return rig.a.shard.counters().pseudo_acks; }

TEST(Tags, Cm_PairIsKnownBeforeItsFirstPacket) {
  PairRig rig(learning());
  const Ends e;
  connect_by_cm(rig, e, 7);
  ASSERT_EQ(rig.a.shard.flows().size(), 2u);
  ASSERT_EQ(rig.b.shard.flows().size(), 2u);
  EXPECT_EQ(rig.a.shard.flows()[0].learned_by, LearnedBy::kCm);
  rig.a.lan.clear();
  rig.from_a(write_only(e.start_a));
  EXPECT_EQ(acks(rig.a.lan), (Psns{e.start_a}));
  rig.from_b(write_only(e.start_b));
  EXPECT_EQ(rig.b.shard.counters().pseudo_acks, 1u);
}

TEST(Tags, Cm_RejectedAndUnreliableConnectionsAreNoPairs) {
  PairRig rig(learning());
  const Ends e;
  rig.from_a(Mad(CmMad::kReq, 7, 0).req(e.a, 1).spec());
  rig.carry();
  rig.from_b(Mad(CmMad::kRej, 9, 7).spec());
  rig.from_b(Mad(CmMad::kRep, 9, 7).rep(e.b, 2).spec());
  rig.carry();
  EXPECT_TRUE(rig.a.shard.flows().empty());
  // Another id than the REQ's, and a REP from the side of the REQ.
  rig.from_a(Mad(CmMad::kReq, 8, 0).req(e.a, 1).spec());
  rig.from_b(Mad(CmMad::kRep, 9, 6).rep(e.b, 2).spec());
  rig.carry();
  EXPECT_TRUE(rig.a.shard.flows().empty());
}

TEST(Tags, Cm_TwoRequestsUnderOneIdAreNoPair) {
  PairRig rig(learning());
  const Ends e;
  rig.from_a(Mad(CmMad::kReq, 7, 0).req(e.a, e.start_b).spec());
  rig.from_a(Mad(CmMad::kReq, 7, 0).req(e.a, e.start_b).spec());  // a repeat
  rig.from_a(Mad(CmMad::kReq, 7, 0).req(Qpn{0x33}, e.start_b).spec());
  rig.carry();
  rig.from_b(Mad(CmMad::kRep, 9, 7).rep(e.b, e.start_a).spec());
  rig.from_b(Mad(CmMad::kRep, 9, 7).rep(e.b, e.start_a).spec());
  rig.run(Duration::millis(20));
  EXPECT_TRUE(rig.a.shard.flows().empty());
  EXPECT_TRUE(rig.b.shard.flows().empty());
}

TEST(Tags, Cm_RepeatedRequestIsOneRequest) {
  PairRig rig(learning());
  const Ends e;
  rig.from_a(Mad(CmMad::kReq, 7, 0).req(e.a, e.start_b).spec());
  connect_by_cm(rig, e, 7);
  EXPECT_EQ(rig.a.shard.flows().size(), 2u);
}

TEST(Tags, C4_CmNamesTheQpWithAnotherPeer) {
  PairRig rig(learning());
  Ends e;
  connect_by_cm(rig, e, 7);
  rig.from_a(write_only(e.start_a));
  EXPECT_EQ(rig.a.shard.owned_packets(), 1u);
  Ends again = e;
  again.a = Qpn{0x31};  // the QP at B is connected to another one
  again.start_a = 9000;
  connect_by_cm(rig, again, 17);
  rig.run(Duration::millis(100));
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  ASSERT_EQ(rig.a.shard.flows().size(), 2u);
  for (const FlowView& v : rig.a.shard.flows()) {
    if (v.source) {
      EXPECT_EQ(v.sender_qpn.v, 0x31u);
    }
  }
  rig.a.lan.clear();
  rig.from_a(write_only(9000));
  rig.run(Duration::millis(50));
  for (const Left& l : rig.a.lan) EXPECT_NE(l.frame().dest_qp(), e.a);
}

TEST(Tags, C8_DreqWaitsUntilNothingIsOwned) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.a.wan.clear();  // lost on the span
  rig.from_a(Mad(CmMad::kDreq, 7, 8).dreq(Qpn{0x22}).spec());
  rig.from_a(Mad(CmMad::kDreq, 7, 8).dreq(Qpn{0x22}).spec());
  EXPECT_TRUE(psns(rig.a.wan).empty());
  rig.run(Duration::millis(60));  // repaired, not yet acknowledged
  EXPECT_EQ(psns(rig.b.lan, Cause::kFirst), (Psns{100}));
  EXPECT_TRUE(psns(rig.b.lan, Cause::kForward).empty());
  rig.from_b(answer(100, 1));
  rig.run(Duration::millis(60));
  EXPECT_EQ(psns(rig.b.lan, Cause::kForward).size(), 2u);
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
}

TEST(Tags, C8_DreqWaitsAtMostASecondAndCustodyStays) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.from_a(Mad(CmMad::kDreq, 7, 8).dreq(Qpn{0x22}).spec());
  rig.run(Duration::millis(900));
  EXPECT_TRUE(psns(rig.b.lan, Cause::kForward).empty());
  rig.run(Duration::millis(1200));  // a second here, a second there
  EXPECT_EQ(psns(rig.b.lan, Cause::kForward).size(), 1u);
  EXPECT_EQ(rig.a.shard.owned_packets(), 1u);
}

TEST(Tags, C8_DreqAtTheFarProxyWaitsForWhatItHolds) {
  PairRig rig;
  rig.connect();
  rig.from_b(write_only(5000));  // B's own request is in custody at B
  rig.to_b_wan(Mad(CmMad::kDreq, 7, 8).dreq(Qpn{0x22}).spec());
  EXPECT_TRUE(psns(rig.b.lan, Cause::kForward).empty());
  rig.carry();
  rig.from_a(answer(5000, 1));
  rig.run(Duration::millis(60));
  EXPECT_EQ(psns(rig.b.lan, Cause::kForward).size(), 1u);
}

TEST(Tags, C8_DreqOfAnUnknownQpPasses) {
  PairRig rig;
  rig.from_a(Mad(CmMad::kDreq, 7, 8).dreq(Qpn{0x22}).spec());
  EXPECT_EQ(psns(rig.a.wan).size(), 1u);
}

TEST(Tags, C6_CorrelatedPairBecomesActive) {
  PairRig rig(learning());
  const Ends e = hashed();
  talk(rig, e, 12, 100);
  ASSERT_FALSE(rig.a.shard.flows().empty());
  EXPECT_EQ(rig.a.shard.flows()[0].learned_by, LearnedBy::kCorrelation);
  talk(rig, e, 4, 124, 12);
  EXPECT_GT(pseudo_acks(rig), 0u);
}

// Two messages of 64 packets under way, and 200 of one packet: more than an answer at a time.
TEST(Tags, C6_PairIsFoundWithManyMessagesUnderWay) {
  struct Deep {
    uint32_t packets, under_way;
  };
  for (const Deep d : {Deep{64, 2}, Deep{1, 200}}) {
    PairRig rig(learning());
    Ends e;
    e.start_a = 0x400000;
    uint32_t sent = 0, answered = 0;
    const auto send = [&] {
      static const std::array<uint8_t, 1024> kFull{};
      const uint32_t psn = e.start_a + sent++ * d.packets;
      for (uint32_t i = 0; i + 1 < d.packets; ++i) {
        RoceSpec r = write_part(i == 0 ? op::kRcWriteFirst : op::kRcWriteMiddle, psn + i);
        r.payload = kFull;
        rig.from_a(r, e);
      }
      rig.from_a(d.packets == 1 ? write_only(psn) : write_part(op::kRcWriteLast, psn + d.packets - 1, true), e);
    };
    for (uint32_t i = 0; i < d.under_way; ++i) send();
    for (int i = 0; i < 400; ++i) {
      rig.run(Duration::micros(300));
      ++answered;
      rig.from_b(answer(e.start_a + answered * d.packets - 1, answered), e);
      send();
    }
    EXPECT_EQ(rig.a.shard.counters().pairs_learned, 1u) << d.packets;
  }
}

TEST(Tags, C10_InferredPairOpensOnlyWhereBothWaysWereSeen) {
  PairRig rig(learning());
  const Ends e = hashed();
  // Proxy B sees neither requests nor answers: they take another path there.
  FlowOpen open{FlowId{77}, {}, e.a, 1024, Completion::kEarly, false, false, false};
  const Registration r = rig.registration(e);
  open.key = r.flow(true);
  rig.say(rig.b, open);
  ASSERT_TRUE(newest<FlowOpened>(rig.b.wan).has_value());
  EXPECT_EQ(newest<FlowOpened>(rig.b.wan)->answer, OpenAnswer::kNotOnPath);
  EXPECT_TRUE(rig.b.shard.flows().empty());
  talk(rig, e, 2, 100);
  rig.b.wan.clear();
  rig.say(rig.b, open);
  EXPECT_EQ(newest<FlowOpened>(rig.b.wan)->answer, OpenAnswer::kAccepted);
  // Seen long ago does not count.
  PairRig late(learning());
  talk(late, e, 2, 100);
  late.run(Duration::seconds(2));
  late.say(late.b, open);
  EXPECT_EQ(newest<FlowOpened>(late.b.wan)->answer, OpenAnswer::kNotOnPath);
}

TEST(Tags, C6_ContradictionDrainsToTransparent) {
  PairRig rig(learning());
  const Ends e = hashed();
  talk(rig, e, 18, 100);
  ASSERT_GT(pseudo_acks(rig), 0u);
  // The receiver acknowledges to this sender what this flow never sent.
  for (uint32_t psn = 400; psn < 404; ++psn) {
    rig.from_b(answer(psn, 50), e);
    rig.run(Duration::millis(1));
  }
  EXPECT_EQ(rig.a.shard.counters().contradictions, 1u);
  rig.run(Duration::millis(200));
  for (const FlowView& v : rig.a.shard.flows()) {
    if (v.source && v.sender_qpn == e.a) {
      EXPECT_STREQ(v.state, "transparent");
    }
  }
  const uint64_t before = pseudo_acks(rig);
  rig.from_a(write_only(136), e);
  EXPECT_EQ(pseudo_acks(rig), before);
}

TEST(Tags, C6_OtherPortEndsAnInferredPair) {
  PairRig rig(learning());
  Ends e = hashed();
  talk(rig, e, 18, 100);
  ASSERT_GT(pseudo_acks(rig), 0u);
  rig.run(Duration::millis(100));
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  const uint64_t before = pseudo_acks(rig);
  e.port = 0xdead;  // the QPN lives again, with another partner
  rig.from_a(write_only(136), e);
  EXPECT_EQ(pseudo_acks(rig), before);
  rig.run(Duration::millis(100));
  EXPECT_TRUE(rig.a.shard.flows().empty());
  EXPECT_TRUE(rig.b.shard.flows().empty());
}

// The far proxy drops what comes while it ends the old life: the next one waits here meanwhile (C4).
TEST(Tags, C6_NextLifeOfAnInferredPairIsKeptUntilTheOldOneHasEnded) {
  PairRig rig(learning());
  Ends e = hashed();
  talk(rig, e, 18, 100);
  ASSERT_GT(pseudo_acks(rig), 0u);
  rig.run(Duration::millis(100));
  rig.b.lan.clear();
  e.port = 0xdead;
  for (uint32_t psn = 7000; psn < 7003; ++psn) rig.from_a(write_only(psn), e);
  EXPECT_TRUE(psns(rig.a.wan).empty());
  rig.run(Duration::millis(100));
  EXPECT_EQ(psns(rig.b.lan), (Psns{7000, 7001, 7002}));
}

TEST(Tags, C6_OldUnknownPacketEndsAnInferredPair) {
  PairRig rig(learning());
  const Ends e = hashed();
  talk(rig, e, 18, 100);
  rig.run(Duration::millis(100));
  ASSERT_EQ(rig.a.shard.owned_packets(), 0u);
  const uint64_t before = pseudo_acks(rig);
  rig.from_a(write_only(131, 9), e);  // nothing like it was ever confirmed here
  EXPECT_EQ(pseudo_acks(rig), before);
  rig.run(Duration::millis(100));
  EXPECT_TRUE(rig.a.shard.flows().empty());
}

TEST(Tags, C6_ForgottenPacketEndsAnInferredPair) {
  RigOptions o = learning();
  o.config.limits.confirmed_per_flow = 1;
  PairRig rig(o);
  const Ends e = hashed();
  talk(rig, e, 18, 100);
  rig.run(Duration::millis(100));
  ASSERT_EQ(rig.a.shard.owned_packets(), 0u);
  rig.from_a(write_part(op::kRcWriteMiddle, 130), e);
  rig.run(Duration::millis(100));
  EXPECT_TRUE(rig.a.shard.flows().empty());
}

}  // namespace
}  // namespace matchrdma::tags
