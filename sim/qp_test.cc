// Both ends of a QP, without a network (SIMULATOR 2).
#include <gtest/gtest.h>

#include <vector>

#include "sim/receive_qp.h"
#include "sim/send_qp.h"

namespace matchrdma::sim {
namespace {

constexpr Rate kLine{100'000'000'000};

SimTime at_us(int64_t us) { return SimTime{} + SimSpan::micros(us); }

SimPacket next(SendQp& qp, SimTime now) {
  SimPacket p;
  EXPECT_LE(qp.ready_at(), now);
  qp.fill(p, now, kHpccFrames, Tick{});
  return p;
}

SimPacket data(int64_t seq, uint32_t payload, bool ce = false, bool ends = false) {
  SimPacket p;
  p.seq = seq;
  p.payload = payload;
  p.ce = ce;
  p.ends_message = ends;
  return p;
}

TEST(SendQp, CutsMessagesIntoPacketsAndPaces) {
  SendQp qp({.mtu = 1000}, kLine);
  EXPECT_TRUE(qp.ready_at().is_never());
  qp.post(1500);
  qp.post(100);
  SimPacket p = next(qp, at_us(0));
  EXPECT_EQ(p.payload, 1000u);
  EXPECT_EQ(p.size, 1048u);
  EXPECT_TRUE(p.starts_message);
  EXPECT_EQ(p.message, 1500u);
  EXPECT_FALSE(p.ends_message);
  EXPECT_EQ(qp.ready_at().ps, 83'840);
  p = next(qp, at_us(1));
  EXPECT_EQ(p.payload, 500u);  // a packet does not span messages
  EXPECT_FALSE(p.starts_message);
  EXPECT_TRUE(p.ends_message);
  p = next(qp, at_us(2));
  EXPECT_EQ(p.seq, 2);
  EXPECT_TRUE(p.ends_message);
  EXPECT_TRUE(qp.ready_at().is_never());
  EXPECT_EQ(qp.on_ack(1, at_us(3)), 0u);
  EXPECT_EQ(qp.acknowledged(), 1000);
  EXPECT_EQ(qp.on_ack(3, at_us(3)), 2u);
  EXPECT_EQ(qp.acknowledged(), 1600);
  EXPECT_TRUE(qp.next_timer().is_never());
}

TEST(SendQp, WindowBoundsWhatIsNotAcknowledged) {
  SendQp qp({.mtu = 1000, .window_bytes = 2500}, kLine);
  qp.post(10'000);
  for (int i = 0; i < 3; ++i) next(qp, at_us(i));  // bound when snd_nxt - snd_una >= W
  EXPECT_TRUE(qp.ready_at().is_never());
  qp.on_ack(1, at_us(3));
  next(qp, at_us(4));
  EXPECT_TRUE(qp.ready_at().is_never());
}

TEST(SendQp, WindowFollowsTheRate) {
  SendQp qp(
      {.mtu = 1000, .window_bytes = 8000, .window_follows_rate = true, .reaction = ReactionSettings::hpcc()},
      kLine);
  qp.post(100'000);
  for (int i = 0; i < 4; ++i) next(qp, at_us(i));
  qp.on_cnp(at_us(4));
  EXPECT_FALSE(qp.ready_at().is_never());
  qp.run_timers(qp.next_timer());  // half the rate, and half the window: 4 KB and a little
  EXPECT_LT(qp.rate(), 0.51e11);
  next(qp, at_us(9));
  EXPECT_TRUE(qp.ready_at().is_never());
}

TEST(SendQp, GoesBackToThePacketThatIsNamed) {
  SendQp qp({.mtu = 1000}, kLine);
  for (int i = 0; i < 3; ++i) qp.post(1500);
  for (int i = 0; i < 6; ++i) next(qp, at_us(i));
  EXPECT_EQ(qp.on_nack(3, at_us(10)), 1u);  // in the middle of the second message
  SimPacket p = next(qp, at_us(11));
  EXPECT_EQ(p.seq, 3);
  EXPECT_EQ(p.payload, 500u);
  EXPECT_TRUE(p.ends_message);
  EXPECT_EQ(next(qp, at_us(12)).seq, 4);
  EXPECT_EQ(qp.sent_again(), 1500);
  // An ACK of what was sent before passes what is being sent again.
  EXPECT_EQ(qp.on_ack(6, at_us(13)), 2u);
  EXPECT_TRUE(qp.ready_at().is_never());
  qp.post(200);
  p = next(qp, at_us(14));
  EXPECT_EQ(p.seq, 6);
  EXPECT_EQ(p.payload, 200u);
}

TEST(SendQp, TimesOutAndGivesUp) {
  SendQp qp({.mtu = 1000, .timeout = SimSpan::micros(50), .retries = 2}, kLine);
  qp.post(3000);
  next(qp, at_us(0));
  next(qp, at_us(1));
  EXPECT_EQ(qp.next_timer(), at_us(50));
  qp.on_ack(1, at_us(40));
  EXPECT_EQ(qp.next_timer(), at_us(90));
  for (const int64_t us : {90, 140}) {
    qp.run_timers(at_us(us));
    EXPECT_EQ(next(qp, at_us(us)).seq, 1);
  }
  EXPECT_FALSE(qp.failed());
  qp.run_timers(at_us(190));
  EXPECT_TRUE(qp.failed());
  EXPECT_TRUE(qp.ready_at().is_never());
}

TEST(SendQp, ForksNeverTimeOut) {
  SendQp qp({.mtu = 1000, .recovers = false}, kLine);
  qp.post(1000);
  next(qp, at_us(0));
  EXPECT_TRUE(qp.next_timer().is_never());
}

TEST(ReceiveQp, AcknowledgesMilestonesChunksAndEnds) {
  ReceiveQp qp({.ack_interval = 3000, .ack_chunk = 5000});
  std::vector<int64_t> acked;
  for (int64_t seq = 0; seq < 11; ++seq) {
    const Answer a = qp.on_data(data(seq, 1000, false, seq == 10), at_us(seq));
    if (a.kind == Answer::Kind::kAck) acked.push_back(a.expected);
    EXPECT_EQ(a.messages, seq == 10 ? 1u : 0u);
    EXPECT_EQ(a.delivered, 1000);
  }
  EXPECT_EQ(acked, (std::vector<int64_t>{3, 5, 6, 9, 10, 11}));
}

TEST(ReceiveQp, NamesAGapOnceInAWhile) {
  ReceiveQp qp({.nack_gap = SimSpan::micros(500)});
  qp.on_data(data(0, 1000), at_us(0));
  Answer a = qp.on_data(data(2, 1000), at_us(1));
  EXPECT_EQ(a.kind, Answer::Kind::kNack);
  EXPECT_EQ(a.expected, 1);
  EXPECT_EQ(a.delivered, 0);
  EXPECT_EQ(qp.on_data(data(3, 1000), at_us(2)).kind, Answer::Kind::kNone);
  EXPECT_EQ(qp.on_data(data(3, 1000), at_us(501)).kind, Answer::Kind::kNack);
  qp.on_data(data(1, 1000), at_us(502));
  EXPECT_EQ(qp.on_data(data(3, 1000), at_us(503)).kind, Answer::Kind::kNack);  // another packet
}

TEST(ReceiveQp, DuplicatesAreAcknowledgedOrIgnored) {
  ReceiveQp ours({}), forks({.acks_duplicates = false});
  for (ReceiveQp* qp : {&ours, &forks}) qp->on_data(data(0, 1000), at_us(0));
  EXPECT_EQ(ours.on_data(data(0, 1000), at_us(1)).kind, Answer::Kind::kAck);
  EXPECT_EQ(forks.on_data(data(0, 1000), at_us(1)).kind, Answer::Kind::kNone);
  EXPECT_EQ(ours.delivered(), 1000);
}

TEST(ReceiveQp, TellsOfMarksInThreeWays) {
  const SimSpan gap = SimSpan::micros(4);
  ReceiveQp every({.notification = Notification::kEveryAck});
  ReceiveQp paced({.notification = Notification::kPacedBit, .cnp_gap = gap});
  ReceiveQp packet({.notification = Notification::kCnpPacket, .cnp_gap = gap});
  int bits_every = 0, bits_paced = 0, packets = 0;
  for (int64_t i = 0; i < 12; ++i) {
    const SimPacket p = data(i, 1000, true);
    bits_every += every.on_data(p, at_us(i)).cnp_bit;
    bits_paced += paced.on_data(p, at_us(i)).cnp_bit;
    packets += packet.on_data(p, at_us(i)).cnp_packet;
  }
  EXPECT_EQ(bits_every, 12);
  EXPECT_EQ(bits_paced, 3);
  EXPECT_EQ(packets, 3);
  EXPECT_FALSE(every.on_data(data(12, 1000), at_us(20)).cnp_bit);
  EXPECT_FALSE(packet.on_data(data(12, 1000), at_us(20)).cnp_packet);
}

TEST(FrameSizes, AreThoseOfThePage) {
  EXPECT_EQ(kHpccFrames.data(1000, true), 1048u);
  EXPECT_EQ(kRoceFrames.ack + kRoceFrames.gap, 86u);
  EXPECT_EQ(kRoceFrames.data(1024, false), 1024u + 62);
  EXPECT_EQ(kRoceFrames.data(1024, true), 1024u + 78);
  EXPECT_EQ(kRoceFrames.data(1, false), 4u + 62);  // padded to four
}

}  // namespace
}  // namespace matchrdma::sim
