// Which QPN belongs to which (PROTOCOL 3, learner 2; C6): each condition alone.
#include "dataplane/flow/correlation.h"

#include <gtest/gtest.h>

#include <vector>

#include "dataplane/wire/frame_builder.h"
#include "dataplane/wire/source_port.h"

namespace matchrdma {
namespace {

constexpr Duration kRtt = Duration::millis(10);

IpAddress host(uint8_t last) {
  const uint8_t b[4] = {10, 9, 0, last};
  return IpAddress::v4(b);
}

/// A proxy at host 1's site: requests of host 1 go out, answers of host 2 come in.
class Watcher {
 public:
  explicit Watcher(CorrelationLimits limits = {}) : c_(limits) {}

  void request(Qpn responder, uint32_t psn, uint16_t port, uint8_t opcode = op::kRcWriteOnly,
               bool ack_req = true) {
    RoceSpec r;
    r.opcode = opcode;
    r.dest_qp = responder;
    r.psn = Psn{psn & Psn::kMask};
    r.ack_req = ack_req;
    std::vector<uint8_t> payload(opcode == op::kRcWriteOnly ? 64 : 1024);
    r.payload = payload;
    frame(1, r, port);
    c_.on_request(FlowKey::of(parsed_, 0), parsed_, now_);
  }
  bool answer(Qpn requester, uint32_t psn, uint32_t msn, uint16_t port) {
    RoceSpec r;
    r.opcode = op::kRcAck;
    r.dest_qp = requester;
    r.psn = Psn{psn & Psn::kMask};
    r.syndrome = kAethAck | 31;
    r.msn = Msn{msn};
    frame(2, r, port);
    const auto p = c_.on_answer(FlowKey::of(parsed_, 0), parsed_, false, now_, kRtt);
    if (p) pairs_.push_back(*p);
    return p.has_value();
  }
  void wait(Duration d) { now_ = now_ + d; }
  const std::vector<Registration>& pairs() const { return pairs_; }
  Unpaired why(Qpn responder) const {
    for (const Correlation::Report& r : c_.report()) {
      if (r.key.dst_qpn == responder) return r.why;
    }
    ADD_FAILURE() << "not watched";
    return Unpaired::kNoAnswers;
  }
  const Correlation& learner() const { return c_; }
  Instant now() const { return now_; }

 private:
  void frame(uint8_t from, const RoceSpec& r, uint16_t port) {
    L2L3 l;
    l.src = host(from);
    l.dst = host(static_cast<uint8_t>(3 - from));
    l.udp_source_port = port;
    bytes_.resize(roce_frame_size(l, r));
    build_roce(l, r, bytes_);
    parsed_ = parse_frame(bytes_).frame;
  }
  Correlation c_;
  Instant now_{1'000'000'000};
  std::vector<uint8_t> bytes_;
  Frame parsed_;
  std::vector<Registration> pairs_;
};

struct Qp {
  Qpn a, b;
  uint32_t start = 0;
  uint16_t port = 0xc000;
  uint16_t hashed() const { return hashed_source_port(a, b); }
};

/// `rounds` messages of one packet, each acknowledged a round trip later; all QPs in lock step.
void talk(Watcher& w, const std::vector<Qp>& qps, uint32_t rounds, uint32_t first = 0,
          uint32_t msn_before = 0) {
  for (uint32_t i = first; i < first + rounds; ++i) {
    for (const Qp& q : qps) w.request(q.b, q.start + i, q.port);
    w.wait(kRtt);
    for (const Qp& q : qps) w.answer(q.a, q.start + i, msn_before + i + 1, q.port);
  }
}

TEST(Correlation, HashedPortAndEightAcksPair) {
  Watcher w;
  Qp q{Qpn{0x11}, Qpn{0x12}};
  q.port = q.hashed();
  talk(w, {q}, 7);
  EXPECT_TRUE(w.pairs().empty());
  EXPECT_EQ(w.why(q.b), Unpaired::kFewAcks);
  talk(w, {q}, 1, 7);
  ASSERT_EQ(w.pairs().size(), 1u);
  EXPECT_EQ(w.pairs()[0].a.qpn, q.a);
  EXPECT_EQ(w.pairs()[0].b.qpn, q.b);
  EXPECT_EQ(w.pairs()[0].a.ip, host(1));
  EXPECT_TRUE(w.learner().report().empty());
}

TEST(Correlation, EightAcksWithinLessThanTwoRoundTripsAreNotEnough) {
  Watcher w;
  Qp q{Qpn{0x11}, Qpn{0x12}};
  q.port = q.hashed();
  for (uint32_t i = 0; i < 20; ++i) {
    w.request(q.b, i, q.port);
    w.answer(q.a, i, i + 1, q.port);
  }
  EXPECT_TRUE(w.pairs().empty());
}

TEST(Correlation, C6_OneFittingAckIsNoProof) {
  Watcher w;
  const Qp q{Qpn{0x11}, Qpn{0x12}, 0x300000};
  talk(w, {q}, 1);
  EXPECT_TRUE(w.pairs().empty());
}

TEST(Correlation, BirthAtAPsnOfItsOwnPairsWithTwoAcks) {
  Watcher w;
  const Qp q{Qpn{0x11}, Qpn{0x12}, 0x300000}, other{Qpn{0x21}, Qpn{0x22}, 0x500000};
  talk(w, {q, other}, 2);
  EXPECT_EQ(w.pairs().size(), 2u);
}

TEST(Correlation, C6_BirthNearAnotherFlowIsNoProof) {
  Watcher w;
  const Qp q{Qpn{0x11}, Qpn{0x12}, 0x300000}, other{Qpn{0x21}, Qpn{0x22}, 0x300000 + 60'000};
  talk(w, {q, other}, 150);
  EXPECT_TRUE(w.pairs().empty());
  EXPECT_EQ(w.why(q.b), Unpaired::kNoSecondFact);
}

TEST(Correlation, C6_BirthAtALowPsnIsNoProof) {
  Watcher w;
  const Qp q{Qpn{0x11}, Qpn{0x12}, 0};
  talk(w, {q}, 20);
  EXPECT_TRUE(w.pairs().empty());
  EXPECT_EQ(w.why(q.b), Unpaired::kNoSecondFact);
}

TEST(Correlation, C6_FlowJoinedInTheMiddleWithoutAHashStaysUnpaired) {
  Watcher w;
  const Qp q{Qpn{0x11}, Qpn{0x12}, 0x300000};
  talk(w, {q}, 20, 0, 77);  // the receiver had completed 77 messages before
  EXPECT_TRUE(w.pairs().empty());
  EXPECT_EQ(w.why(q.b), Unpaired::kNoSecondFact);
}

TEST(Correlation, FlowJoinedInTheMiddleWithAHashPairs) {
  Watcher w;
  Qp q{Qpn{0x11}, Qpn{0x12}, 0x300000};
  q.port = q.hashed();
  talk(w, {q}, 9, 0, 77);
  EXPECT_EQ(w.pairs().size(), 1u);
}

TEST(Correlation, C6_StepsOfTheMsnMustBeTheMessagesSeen) {
  Watcher w;
  Qp q{Qpn{0x11}, Qpn{0x12}};
  q.port = q.hashed();
  for (uint32_t i = 0; i < 30; ++i) {
    w.request(q.b, i, q.port);
    w.wait(kRtt);
    w.answer(q.a, i, 2 * i + 1, q.port);  // completes two where one was sent
  }
  EXPECT_TRUE(w.pairs().empty());
}

TEST(Correlation, C6_AcksBetweenTheAskingPacketsDoNotCount) {
  Watcher w;
  Qp q{Qpn{0x11}, Qpn{0x12}};
  q.port = q.hashed();
  for (uint32_t i = 0; i < 30; ++i) {
    w.request(q.b, i, q.port, op::kRcWriteMiddle, false);
    w.wait(kRtt);
    w.answer(q.a, i, 0, q.port);
  }
  EXPECT_TRUE(w.pairs().empty());
}

TEST(Correlation, LockStepQpsAreSeparatedByTheirPorts) {
  for (const uint32_t n : {8u, 64u}) {
    Watcher w;
    std::vector<Qp> qps;
    for (uint32_t i = 0; i < n; ++i) {
      Qp q{Qpn{0x100 + i}, Qpn{0x200 + 3 * i}};
      q.port = q.hashed();
      qps.push_back(q);
    }
    talk(w, qps, 12);
    ASSERT_EQ(w.pairs().size(), n);
    for (const Registration& p : w.pairs()) EXPECT_EQ((p.b.qpn.v - 0x200) / 3, p.a.qpn.v - 0x100);
  }
}

TEST(Correlation, C6_LockStepQpsWithoutAHashStayUnpaired) {
  Watcher w;
  std::vector<Qp> qps;
  for (uint32_t i = 0; i < 8; ++i) qps.push_back({Qpn{0x100 + i}, Qpn{0x200 + i}});
  talk(w, qps, 40);
  EXPECT_TRUE(w.pairs().empty());
  EXPECT_EQ(w.why(qps[3].b), Unpaired::kAmbiguous);
}

TEST(Correlation, C6_PortThatServesManyQpsNamesNone) {
  // One port for all, and by chance it is the hash of one QP's number and another's.
  Watcher w;
  std::vector<Qp> qps;
  for (uint32_t i = 0; i < 8; ++i) qps.push_back({Qpn{0x100 + i}, Qpn{0x200 + i}});
  const uint16_t port = hashed_source_port(qps[2].a, qps[5].b);
  for (Qp& q : qps) q.port = port;
  talk(w, qps, 40);
  EXPECT_TRUE(w.pairs().empty());
}

TEST(Correlation, OwnQpnAsPortIsTheSecondFact) {
  Watcher w;
  const Qp q{Qpn{69}, Qpn{72}};
  for (uint32_t i = 0; i < 12; ++i) {
    w.request(q.b, i, 69);
    w.wait(kRtt);
    w.answer(q.a, i, i + 1, 72);
  }
  EXPECT_EQ(w.pairs().size(), 1u);
}

// The answers of one QP and the requests of another, in lock step: all but the port fits.
TEST(Correlation, C6_HalvesOfTwoHiddenFlowsAreNoPair) {
  Watcher w;
  const Qp x{Qpn{0x11}, Qpn{0x12}, 0x300000}, y{Qpn{0x21}, Qpn{0x22}, 0x300000};
  for (uint32_t i = 0; i < 40; ++i) {
    w.request(x.b, x.start + i, x.hashed());
    w.wait(kRtt);
    w.answer(y.a, y.start + i, i + 1000, y.hashed());
  }
  EXPECT_TRUE(w.pairs().empty());
}

// One request stream, and two answer streams that fit it and whose QPNs hash to its port: nobody knows which is
// right.
TEST(Correlation, C6_TwoAnswerStreamsForOneRequestStream) {
  Watcher w;
  Qp q{Qpn{0x11}, Qpn{0x1234}};
  q.port = q.hashed();
  Qpn twin{0x12};
  while (hashed_source_port(twin, q.b) != q.port) ++twin.v;
  for (uint32_t i = 0; i < 20; ++i) {
    w.request(q.b, i, q.port);
    w.request(Qpn{0x77}, 0x900000 + i, 0xc777);  // its answers take another path, as the twin's requests do
    w.wait(kRtt);
    w.answer(q.a, i, i + 1, q.port);
    w.answer(twin, i, i + 1, q.port);
  }
  EXPECT_TRUE(w.pairs().empty());
}

TEST(Correlation, C6_AnswersWithoutRequestsStopAllPairing) {
  Watcher w;
  Qp q{Qpn{0x11}, Qpn{0x12}};
  q.port = q.hashed();
  for (uint32_t i = 0; i < 200; ++i) {
    w.request(q.b, i, q.port);
    w.wait(kRtt);
    w.answer(Qpn{0x99}, 0x700000 + i, i, 0xc001);  // its requests take another path
  }
  talk(w, {q}, 20, 200);
  EXPECT_TRUE(w.pairs().empty());
  EXPECT_EQ(w.why(q.b), Unpaired::kHiddenFlows);
}

TEST(Correlation, C6_RequestsWithoutAnswersStopAllPairing) {
  Watcher w;
  Qp q{Qpn{0x11}, Qpn{0x12}}, hidden{Qpn{0x21}, Qpn{0x22}};
  q.port = q.hashed();
  for (uint32_t i = 0; i < 200; ++i) {
    w.request(q.b, i, q.port);
    w.request(hidden.b, i, hidden.hashed());
    w.wait(kRtt);
  }
  talk(w, {q}, 20, 200);
  EXPECT_TRUE(w.pairs().empty());
  EXPECT_EQ(w.why(q.b), Unpaired::kHiddenFlows);
}

TEST(Correlation, C6_FlowsBeyondTheLimitStopAllPairing) {
  CorrelationLimits limits;
  limits.streams = 4;
  Watcher w(limits);
  std::vector<Qp> qps;
  for (uint32_t i = 0; i < 5; ++i) {
    Qp q{Qpn{0x100 + i}, Qpn{0x200 + i}};
    q.port = q.hashed();
    qps.push_back(q);
  }
  talk(w, qps, 20);
  EXPECT_TRUE(w.pairs().empty());
}

TEST(Correlation, ReusedQpnIsWatchedAnew) {
  Watcher w;
  Qp q{Qpn{0x11}, Qpn{0x12}, 0x100000};
  talk(w, {q}, 1);
  q.start = 0x900000;
  q.a = Qpn{0x13};
  talk(w, {q}, 3);
  ASSERT_EQ(w.pairs().size(), 1u);
  EXPECT_EQ(w.pairs()[0].a.qpn.v, 0x13u);
}

TEST(Correlation, WhatIsIdleIsForgotten) {
  Watcher w;
  talk(w, {{Qpn{0x11}, Qpn{0x12}}}, 3);
  EXPECT_EQ(w.learner().report().size(), 1u);
  w.wait(Duration::seconds(12));
  w.request(Qpn{0x55}, 0, 0xc000);
  EXPECT_EQ(w.learner().report().size(), 1u);
  EXPECT_EQ(w.learner().report()[0].key.dst_qpn.v, 0x55u);
}

TEST(Correlation, C10_OnPathIsWhatPassedWithinTheLastSecond) {
  Watcher w;
  const Qp q{Qpn{0x11}, Qpn{0x12}};
  const FlowKey requests{host(1), host(2), q.b, 0, 0, 0}, answers{host(2), host(1), q.a, 0, 0, 0};
  w.request(q.b, 0, q.port);
  EXPECT_FALSE(w.learner().on_path(requests, answers, w.now()));
  w.answer(q.a, 0, 1, q.port);
  EXPECT_TRUE(w.learner().on_path(requests, answers, w.now()));
  w.wait(Duration::millis(1100));
  EXPECT_FALSE(w.learner().on_path(requests, answers, w.now()));
}

}  // namespace
}  // namespace matchrdma
