#include "sim/schemes/themis_border.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/schemes/test_one_node.h"

namespace matchrdma::sim {
namespace {

using Seqs = std::vector<int64_t>;
constexpr FrameKind kData = FrameKind::kData, kAck = FrameKind::kAck, kCnp = FrameKind::kCnp;
constexpr EcnSettings kMarksAll{-1, -1, 1};
constexpr int64_t kFramePs = 85'440;  ///< 1048 bytes and the gap at 100 Gb/s
/// A pass of it: 1048 bytes at 1.6 Tb/s, and the loop's delay.
constexpr int64_t kPassPs = 5'240 + 100'000;

struct Device : OneNode<ThemisBorder, ThemisSettings> {
  explicit Device(const ThemisSettings& s = {}, const EcnSettings& ecn = {}) : OneNode(s, ecn) {}
  SimTime left(size_t i) const { return lan.heard[i].at - SimSpan{kFramePs}; }
};

TEST(Pnp, TurnsMarksIntoPacedCnps) {
  Device d({}, kMarksAll);
  for (int64_t i = 0; i < 100; ++i) {
    d.sends(i);
    d.run_ns(200);
  }
  d.run_ns(10'000);
  EXPECT_EQ(d.span.seqs(kData).size(), 100u);
  for (const Heard& h : d.span.heard) EXPECT_FALSE(h.ce);
  // 20 us of marks, one CNP each 5 us, 2 us after the mark.
  ASSERT_EQ(d.lan.seqs(kCnp).size(), 4u);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(d.lan.heard[i].at.ps, 5'000'000 * static_cast<int64_t>(i) + 2'000'000 + 7'840);
  EXPECT_EQ(d.lan.heard[0].destination, Device::kHere);
  EXPECT_EQ(d.lan.heard[0].qp, Device::kSourceQp);
  EXPECT_EQ(d.border.cnps(), 4u);
}

TEST(Pnp, PacesEachFlowByItself) {
  Device d({}, kMarksAll);
  for (uint32_t flow = 0; flow < 3; ++flow) d.sends(0, flow);
  d.run_ns(10'000);
  EXPECT_EQ(d.lan.seqs(kCnp).size(), 3u);
}

TEST(Pnp, LeavesAloneWhatComesAndWhatIsNotMarked) {
  Device marks({}, kMarksAll), calm;
  marks.comes(0);
  calm.sends(0);
  for (Device* d : {&marks, &calm}) {
    d->run_ns(10'000);
    EXPECT_EQ(d->border.cnps(), 0u);
  }
  EXPECT_TRUE(marks.lan.heard[0].ce);
}

TEST(Pnp, OffLeavesMarks) {
  Device d({.pnp = false}, kMarksAll);
  d.sends(0);
  d.run_ns(10'000);
  EXPECT_TRUE(d.span.heard[0].ce);
  EXPECT_TRUE(d.lan.heard.empty());
}

TEST(Trp, DelaysMarkedFlowsOnly) {
  Device d;
  d.answers(kAck, 0, true, 1, true);   // with the CNP bit
  d.answers(kAck, 0, true, 2, false);  // without
  d.run_ns(1'000);
  EXPECT_EQ(d.span.seqs(kAck).size(), 2u);  // ACKs pass
  const SimTime start = d.now();
  d.comes(0, 1);
  d.comes(0, 2);
  EXPECT_EQ(d.border.looping(), 1u);
  EXPECT_EQ(d.node.occupancy().bytes(), 1048);  // held; the other is on the line
  d.run_ns(1'000);
  ASSERT_EQ(d.lan.heard.size(), 2u);
  EXPECT_EQ(d.lan.heard[0].flow, 2u);
  EXPECT_EQ(d.left(0), start);
  EXPECT_EQ(d.lan.heard[1].flow, 1u);
  EXPECT_EQ((d.left(1) - start).ps, 2 * kPassPs);
  EXPECT_EQ(d.node.occupancy().bytes(), 0);
}

TEST(Trp, MarksOnlyByAnswersOfThisSite) {
  Device d;
  d.answers(kAck, 0, false, 1, true);
  d.comes(0, 1);
  d.run_ns(1'000);
  EXPECT_EQ(d.border.delayed(), 0u);
}

TEST(Trp, DelayGrowsWithSteps) {
  Device d({.first_step = 2});
  Seqs passes;
  for (int64_t i = 0; i < 6; ++i) {
    d.answers(kAck, 0, true, 0, true);
    const SimTime start = d.now();
    d.comes(i);
    d.run_ns(2'000);
    passes.push_back((d.left(static_cast<size_t>(i)) - start).ps / kPassPs);
  }
  EXPECT_EQ(passes, (Seqs{2, 2, 3, 3, 3, 4}));
}

TEST(Trp, KeepsOrderWhenTheCountFalls) {
  ThemisSettings s;
  s.most_loops = 2;
  Device d(s);
  d.answers(kAck, 0, true, 0, true);
  Seqs all;
  for (int64_t i = 0; i < 400; ++i) {
    d.comes(i);  // from the 128th on, fewer passes
    all.push_back(i);
  }
  EXPECT_EQ(d.border.looping(), 400u);
  d.run_ns(100'000);
  EXPECT_EQ(d.lan.seqs(kData), all);
  EXPECT_EQ(d.node.buffer().used(), 0);
}

TEST(Trp, RecoveryCancelsPassesAndKeepsOrder) {
  ThemisSettings s;
  s.loop_delay = SimSpan::micros(400);  // a pass is 400 us and two are more than the recovery takes
  Device d(s);
  d.answers(kAck, 0, true, 0, true);
  d.run_ns(300'000);
  d.comes(0);
  d.run_ns(100'000);
  d.comes(1);
  d.run_ns(100'100);  // recovery, at 500 us
  d.comes(2);         // not delayed, but behind the others
  EXPECT_EQ(d.border.looping(), 3u);
  d.run_ns(1'000'000);
  EXPECT_EQ(d.lan.seqs(kData), (Seqs{0, 1, 2}));
  EXPECT_EQ(d.left(0).ps, 700'005'240);  // the end of its first pass
  EXPECT_NEAR(d.left(1).us(), 800.005, 0.001);
  EXPECT_NEAR(d.left(2).us(), 800.005 + 0.085, 0.001);
  d.comes(3);
  EXPECT_EQ(d.border.looping(), 0u);
}

TEST(Trp, OffLeavesDataAlone) {
  Device d({.trp = false});
  d.answers(kAck, 0, true, 0, true);
  d.comes(0);
  d.run_ns(1'000);
  EXPECT_EQ(d.border.delayed(), 0u);
  EXPECT_EQ(d.left(0), SimTime{});
}

}  // namespace
}  // namespace matchrdma::sim
