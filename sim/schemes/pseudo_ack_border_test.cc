#include "sim/schemes/pseudo_ack_border.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/schemes/test_one_node.h"

namespace matchrdma::sim {
namespace {

using Seqs = std::vector<int64_t>;
constexpr FrameKind kData = FrameKind::kData, kAck = FrameKind::kAck, kNack = FrameKind::kNack;

/// 10 km, 1 ms without news.
const PseudoAckSettings kSettings{
    .copy_bytes = 100 * 1048, .round_trip = fibre(10) * 2, .timeout = SimSpan::micros(1000)};

struct Device : OneNode<PseudoAckBorder, PseudoAckSettings> {
  explicit Device(const PseudoAckSettings& s = kSettings) : OneNode(s) {}
};

TEST(PseudoAck, ComesAfterProcWhateverTheFarSideDoes) {
  Device d;
  for (int64_t i = 0; i < 5; ++i) d.sends(i);
  d.run_ns(2'000);
  EXPECT_TRUE(d.lan.heard.empty());
  d.run_ns(100);
  ASSERT_EQ(d.lan.seqs(kAck), (Seqs{1, 2, 3, 4, 5}));  // cumulative: the next PSN
  const Heard& first = d.lan.heard.front();
  EXPECT_EQ(first.at.ps, 2'000'000 + 6'880);  // proc, and an ACK of 86 bytes on the line
  EXPECT_EQ(first.source, Device::kThere);
  EXPECT_EQ(first.destination, Device::kHere);
  EXPECT_EQ(first.qp, Device::kSourceQp);
  EXPECT_EQ(d.span.seqs(kData), (Seqs{0, 1, 2, 3, 4}));
}

TEST(PseudoAck, AGapOnTheLanIsNamedOnceAndPassed) {
  Device d;
  d.sends(0);
  d.sends(2);
  d.sends(3);
  d.run_ns(10'000);
  EXPECT_EQ(d.lan.seqs(kAck), Seqs{1});
  EXPECT_EQ(d.lan.seqs(kNack), Seqs{1});
  EXPECT_EQ(d.span.seqs(kData), (Seqs{0, 2, 3}));
  d.run_ns(50'000);
  d.sends(4);  // the NACK or its fruit was lost
  d.run_ns(10'000);
  EXPECT_EQ(d.lan.seqs(kNack), (Seqs{1, 1}));
}

TEST(PseudoAck, RepeatsOfTheSenderEndHere) {
  Device d;
  d.sends(0);
  d.sends(1);
  d.run_ns(10'000);
  d.sends(0);  // its ACK was lost
  d.run_ns(10'000);
  EXPECT_EQ(d.lan.seqs(kAck), (Seqs{1, 2, 2}));
  EXPECT_EQ(d.span.seqs(kData), (Seqs{0, 1}));
}

TEST(PseudoAck, SendsAgainWhatTheFarDeviceAsksFor) {
  Device d;
  for (int64_t i = 0; i < 4; ++i) d.sends(i);
  d.run_ns(200'000);
  d.span.heard.clear();
  d.lan.heard.clear();
  d.answers(kNack, 2, false);
  d.run_ns(10'000);
  EXPECT_EQ(d.span.seqs(kData), (Seqs{2, 3}));
  EXPECT_EQ(d.span.heard[0].destination, Device::kThere);
  EXPECT_EQ(d.span.heard[0].qp, Device::kDestinationQp);
  EXPECT_TRUE(d.lan.heard.empty());  // not the sender's business
  EXPECT_EQ(d.border.sent_again(), 2u);
}

TEST(PseudoAck, SendsManyCopiesInOrderWithWhatComesMeanwhile) {
  PseudoAckSettings settings = kSettings;
  settings.copy_bytes = 1 << 20;
  settings.resend_rate = Rate{50'000'000'000};
  Device d(settings);
  Seqs all;
  for (int64_t i = 0; i < 500; ++i) d.sends(i);
  d.run_ns(200'000);
  d.span.heard.clear();
  const SimTime start = d.now();
  d.answers(kNack, 0, false);
  for (int64_t i = 0; i < 510; ++i) all.push_back(i);
  for (int64_t i = 500; i < 510; ++i) {
    d.run_ns(1'000);
    d.sends(i);
  }
  d.run_ns(200'000);
  EXPECT_EQ(d.span.seqs(kData), all);
  // 510 frames of 1048 bytes and a gap of 20 at 50 Gb/s, but for the pace of the last.
  EXPECT_NEAR((d.span.heard.back().at - start).us(), 509 * 0.17088, 0.1);
}

TEST(PseudoAck, CopiesDoNotFillTheSwitch) {
  PseudoAckSettings settings = kSettings;
  settings.copy_bytes = 1 << 20;  // and twice the rate of the long link
  Device d(settings);
  for (int64_t i = 0; i < 500; ++i) d.sends(i);
  d.run_ns(200'000);
  d.span.heard.clear();
  d.node.occupancy().start(d.now());
  d.answers(kNack, 0, false);
  d.run_ns(20'000);
  EXPECT_GT(d.node.occupancy().peak(), 64 << 10);
  EXPECT_LT(d.node.occupancy().peak(), 70 << 10);
  // Copies that have become needless do not go.
  d.answers(kAck, 400, false);
  d.run_ns(20'000);
  EXPECT_EQ(d.span.seqs(kData).back(), 499);
  EXPECT_LT(d.span.heard.size(), 420u);
}

TEST(PseudoAck, TailsGoAgainWithoutBeingAskedFor) {
  Device d;
  d.sends(0);
  d.sends(1);
  d.run_ns(900'000);
  d.answers(kAck, 1, false);
  d.run_ns(900'000);
  EXPECT_EQ(d.span.seqs(kData), (Seqs{0, 1}));
  d.run_ns(200'000);
  EXPECT_EQ(d.span.seqs(kData), (Seqs{0, 1, 1}));
  d.answers(kAck, 2, false);
  d.run_ns(5'000'000);
  EXPECT_EQ(d.span.seqs(kData), (Seqs{0, 1, 1}));
  EXPECT_EQ(d.border.copies().used(), 0);
}

TEST(PseudoAck, CopiesAreBoundedAndReleased) {
  Device d({.copy_bytes = 2 * 1048, .round_trip = fibre(10) * 2, .timeout = SimSpan::micros(1000)});
  for (int64_t i = 0; i < 4; ++i) d.sends(i, 3);
  d.run_ns(10'000);
  EXPECT_EQ(d.border.copies().used(), 2 * 1048);
  EXPECT_EQ(d.lan.seqs(kAck), (Seqs{1, 2}));
  EXPECT_EQ(d.span.seqs(kData), (Seqs{0, 1, 2, 3}));  // no rate control
  d.answers(kAck, 4, false, 3);
  d.run_ns(10'000);
  EXPECT_EQ(d.border.copies().used(), 0);
  EXPECT_EQ(d.lan.seqs(kAck), (Seqs{1, 2, 4}));
}

TEST(PseudoAck, TheSenderRepairsWhatHasNoCopy) {
  Device d({.copy_bytes = 1048, .round_trip = fibre(10) * 2, .timeout = SimSpan::micros(1000)});
  for (int64_t i = 0; i < 3; ++i) d.sends(i);
  d.run_ns(200'000);
  d.span.heard.clear();
  d.answers(kNack, 0, false);
  d.run_ns(10'000);
  EXPECT_EQ(d.span.seqs(kData), Seqs{0});
  EXPECT_EQ(d.lan.seqs(kNack), Seqs{1});
  for (int64_t i = 1; i < 3; ++i) d.sends(i);
  d.run_ns(10'000);
  EXPECT_EQ(d.span.seqs(kData), (Seqs{0, 1, 2}));
}

TEST(PseudoAck, AnswersOfReceiversEndAtTheFarDevice) {
  Device d;
  for (int64_t i = 0; i < 4; ++i) d.comes(i);
  d.run_ns(1'000);
  EXPECT_EQ(d.lan.seqs(kData), (Seqs{0, 1, 2, 3}));
  d.answers(kAck, 2, true);
  d.answers(kNack, 3, true);
  d.run_ns(1'000);
  // The near device hears what the receiver has, and what is to be sent again.
  EXPECT_EQ(d.span.seqs(kAck), (Seqs{2, 3}));
  EXPECT_EQ(d.span.seqs(kNack), Seqs{3});
  EXPECT_EQ(d.border.control_bytes(), 3u * 66);
  d.comes(4);
  d.comes(3);
  d.run_ns(1'000);
  EXPECT_EQ(d.lan.seqs(kData), (Seqs{0, 1, 2, 3, 3}));
}

TEST(PseudoAck, AGapOnTheSpanIsAskedForByTheFarDevice) {
  Device d;
  d.comes(0);
  d.comes(2);
  d.run_ns(1'000);
  EXPECT_EQ(d.lan.seqs(kData), Seqs{0});
  EXPECT_EQ(d.span.seqs(kNack), Seqs{1});
  EXPECT_TRUE(d.span.seqs(kAck).empty());
}

TEST(PseudoAck, CnpsPassBothWays) {
  Device d;
  d.answers(FrameKind::kCnp, 0, true, 0, true);
  d.answers(FrameKind::kCnp, 0, false, 0, true);
  d.run_ns(1'000);
  EXPECT_EQ(d.lan.seqs(FrameKind::kCnp).size(), 1u);
  EXPECT_EQ(d.span.seqs(FrameKind::kCnp).size(), 1u);
}

TEST(PseudoAck, TheCnpBitOfAnAckBecomesACnp) {
  Device d;
  d.sends(0);
  d.answers(kAck, 1, false, 0, true);
  d.run_ns(1'000);
  EXPECT_EQ(d.lan.seqs(FrameKind::kCnp).size(), 1u);
}

TEST(PseudoAck, OneDeviceServesBothDirections) {
  Device d;
  d.sends(0, 1);
  d.comes(0, 2);
  d.answers(kAck, 1, true, 2);
  d.answers(kAck, 1, false, 1);
  d.run_ns(10'000);
  EXPECT_EQ(d.lan.seqs(kData), Seqs{0});
  EXPECT_EQ(d.lan.seqs(kAck), Seqs{1});
  EXPECT_EQ(d.span.seqs(kData), Seqs{0});
  EXPECT_EQ(d.span.seqs(kAck), Seqs{1});
  EXPECT_EQ(d.border.copies().used(), 0);
}

}  // namespace
}  // namespace matchrdma::sim
