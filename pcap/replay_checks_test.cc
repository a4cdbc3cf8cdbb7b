// The witness must see every kind of wrong: a check that never complains proves nothing.
#include "pcap/replay_checks.h"

#include <gtest/gtest.h>

#include "pcap/replay_latency.h"
#include "pcap/test_conversation.h"

namespace matchrdma {
namespace {

using test::Conversation;

/// Four more messages and their ACKs from `psn` on, so that nobody can doubt the pair. Tests do not feed them.
void go_on(Conversation& c, uint32_t psn, uint32_t msn) {
  for (uint32_t i = 0; i < 4; ++i)
    c.a(Conversation::request(op::kRcSendOnly, 0x12, psn + i)).b(Conversation::ack(0x11, psn + i, msn + i));
}

/// Requests 10, 11, 12 and their ACKs.
Conversation three_sends() {
  Conversation c;
  for (uint32_t i = 0; i < 3; ++i) c.a(Conversation::request(op::kRcSendOnly, 0x12, 10 + i));
  for (uint32_t i = 0; i < 3; ++i) c.b(Conversation::ack(0x11, 10 + i, 1 + i));
  go_on(c, 13, 4);
  return c;
}

struct Witness {
  explicit Witness(const Conversation& conversation) : c(conversation), flows(c.scan()), checks(flows) {}
  void in(size_t i) { checks.entered(c.view(i, flows)); }
  void out(size_t i, Cause cause = Cause::kFirst) { checks.left(c.view(i, flows), cause); }
  void out(const std::vector<uint8_t>& frame, Cause cause) {
    made.push_back(frame);
    checks.left(PacketView::of(made.back(), flows), cause);
  }
  Conversation c;
  TraceFlows flows;
  ReplayChecks checks;
  std::deque<std::vector<uint8_t>> made;
};

TEST(ReplayChecks, AllInOrder) {
  Witness w(three_sends());
  for (size_t i = 0; i < 3; ++i) w.in(i);
  for (size_t i = 0; i < 3; ++i) w.out(i);
  const DeliveryReport d = w.checks.report();
  EXPECT_EQ(d.requests_in, 3u);
  EXPECT_EQ(d.requests_out, 3u);
  EXPECT_EQ(d.lost, 0u);
  EXPECT_TRUE(d.in_order && d.bytes_identical && d.copies.empty());
  EXPECT_EQ(w.checks.unanswered(), 3u);
  for (size_t i = 3; i < 6; ++i) w.in(i);
  EXPECT_EQ(w.checks.unanswered(), 0u);
}

TEST(ReplayChecks, SeesLoss) {
  Witness w(three_sends());
  for (size_t i = 0; i < 3; ++i) w.in(i);
  w.out(0);
  w.out(1);
  EXPECT_EQ(w.checks.report().lost, 1u);
}

TEST(ReplayChecks, SeesDisorder) {
  Witness w(three_sends());
  for (size_t i = 0; i < 3; ++i) w.in(i);
  w.out(0);
  w.out(2);
  w.out(1);
  EXPECT_FALSE(w.checks.report().in_order);
}

TEST(ReplayChecks, NamesTheCausesOfCopies) {
  Witness w(three_sends());
  for (size_t i = 0; i < 3; ++i) w.in(i);
  w.in(1);
  for (size_t i = 0; i < 3; ++i) w.out(i);
  w.out(1, Cause::kProbe);
  w.out(2, Cause::kReceiverNak);
  w.out(2, Cause::kReceiverNak);
  const DeliveryReport d = w.checks.report();
  EXPECT_EQ(d.requests_in, 3u);
  EXPECT_EQ(d.copies, (std::map<std::string, uint64_t>{{"probe", 1}, {"receiver_nak", 2}}));
  EXPECT_TRUE(d.in_order);
}

TEST(ReplayChecks, SeesChangedBytes) {
  Witness w(three_sends());
  w.in(0);
  RoceSpec other = Conversation::request(op::kRcSendOnly, 0x12, 10);
  const std::vector<uint8_t> payload(64, 1);
  other.payload = payload;
  w.out(Conversation::frame(true, other), Cause::kFirst);
  EXPECT_FALSE(w.checks.report().bytes_identical);
}

TEST(ReplayChecks, MaskHidesEcnTtlAndAckReqOnly) {
  Witness w(three_sends());
  w.in(0);
  auto frame = Conversation::frame(true, Conversation::request(op::kRcSendOnly, 0x12, 10));
  Frame f = parse_frame(frame).frame;
  rewrite_ack_req(f, frame, !f.ack_req());
  rewrite_ecn(parse_frame(frame).frame, frame, 3);
  frame[f.l3_offset() + 8] = 17;  // TTL
  w.out(frame, Cause::kFirst);
  EXPECT_TRUE(w.checks.report().bytes_identical);
  EXPECT_EQ(w.checks.report().bad_icrc_out, 0u);
  frame[0] ^= 4;  // MAC addresses pass unchanged
  w.out(frame, Cause::kProbe);
  EXPECT_FALSE(w.checks.report().bytes_identical);
}

TEST(ReplayChecks, SeesWrongIcrcAndStrangers) {
  Witness w(three_sends());
  w.in(0);
  auto spoiled = Conversation::frame(true, Conversation::request(op::kRcSendOnly, 0x12, 10));
  spoiled.back() ^= 1;
  w.out(spoiled, Cause::kFirst);
  w.out(2);
  const DeliveryReport d = w.checks.report();
  EXPECT_EQ(d.bad_icrc_out, 1u);
  EXPECT_EQ(d.unknown_out, 1u);
  EXPECT_EQ(d.lost, 1u);
}

TEST(ReplayChecks, SeesAcksForWhatNeverEntered) {
  Witness w(three_sends());
  w.in(0);
  w.out(3, Cause::kPseudoAck);
  EXPECT_EQ(w.checks.report().aeth_not_owned, 0u);
  w.out(4, Cause::kPseudoAck);
  EXPECT_EQ(w.checks.report().aeth_not_owned, 1u);
}

// The QP lives twice, with other partners and numbers: what a proxy says late about the first life is no lie,
// and what it says about nobody is.
TEST(ReplayChecks, AnEarlierLifeOwnsItsPackets) {
  Conversation c;
  for (uint32_t i = 0; i < 8; ++i)
    c.a(Conversation::request(op::kRcSendOnly, 0x12, 900'000 + i))
        .b(Conversation::ack(0x11, 900'000 + i, 1 + i));
  c.pause(2);
  for (uint32_t i = 0; i < 8; ++i)
    c.a(Conversation::request(op::kRcSendOnly, 0x13, 100'000 + i))
        .b(Conversation::ack(0x11, 100'000 + i, 1 + i));
  Witness w(c);
  ASSERT_EQ(w.flows.streams().size(), 4u);  // to 0x12, to 0x13, and to 0x11 twice
  for (size_t i = 0; i < c.size(); ++i) w.in(i);
  w.out(15, Cause::kPseudoAck);
  w.out(31, Cause::kPseudoAck);
  EXPECT_EQ(w.checks.report().aeth_not_owned, 0u);
  w.out(Conversation::frame(false, Conversation::ack(0x11, 900'100, 9)), Cause::kPseudoAck);
  EXPECT_EQ(w.checks.report().aeth_not_owned, 1u);
}

// C1, C3: no ACK of ours at or above a READ that was not answered completely.
// A duplicate behind a READ that was answered is acknowledged up to the end of the READ's range.
TEST(ReplayChecks, AReadOwnsItsWholeRange) {
  Conversation c;
  RoceSpec read = Conversation::request(op::kRcReadReq, 0x12, 10);
  read.dma_length = 3000;
  RoceSpec response = Conversation::ack(0x11, 10, 1);
  for (const uint8_t opcode : {op::kRcReadRespFirst, op::kRcReadRespMiddle, op::kRcReadRespLast}) {
    response.opcode = opcode;
    static const std::vector<uint8_t> kZeros(1024);
    response.payload = Bytes{kZeros}.first(opcode == op::kRcReadRespLast ? 952 : 1024);
    if (opcode == op::kRcReadRespFirst) c.a(read);
    c.b(response);
    ++response.psn.v;
  }
  go_on(c, 13, 2);
  Witness w(c);
  for (size_t i = 0; i < 4; ++i) w.in(i);
  for (size_t i = 0; i < 4; ++i) w.out(i);
  w.out(Conversation::frame(false, Conversation::ack(0x11, 12, 1)), Cause::kPseudoAck);
  EXPECT_EQ(w.checks.report().aeth_not_owned, 0u);
  EXPECT_EQ(w.checks.report().aeth_above_fence, 0u);
  w.out(Conversation::frame(false, Conversation::ack(0x11, 13, 1)), Cause::kPseudoAck);
  EXPECT_EQ(w.checks.report().aeth_not_owned, 1u);
}

TEST(ReplayChecks, SeesAcksAboveTheReadFence) {
  Conversation c;
  c.a(Conversation::request(op::kRcSendOnly, 0x12, 10));
  RoceSpec read = Conversation::request(op::kRcReadReq, 0x12, 11);
  read.dma_length = 2048;
  c.a(read).a(Conversation::request(op::kRcSendOnly, 0x12, 13));
  c.b(Conversation::ack(0x11, 10, 1));
  for (uint32_t i = 0; i < 2; ++i) {
    static const std::vector<uint8_t> kData(1024);
    RoceSpec r;
    r.opcode = i == 0 ? op::kRcReadRespFirst : op::kRcReadRespLast;
    r.dest_qp = Qpn{0x11};
    r.psn = Psn{11 + i};
    r.msn = Msn{2};
    r.syndrome = 31;
    r.payload = kData;
    c.b(r);
  }
  c.b(Conversation::ack(0x11, 13, 3));
  go_on(c, 14, 4);
  Witness w(c);
  for (size_t i = 0; i < 3; ++i) w.in(i);
  w.out(3, Cause::kPseudoAck);
  EXPECT_EQ(w.checks.report().aeth_above_fence, 0u);
  w.out(6, Cause::kPseudoAck);
  EXPECT_EQ(w.checks.report().aeth_above_fence, 1u);
  w.out(4, Cause::kResponse);
  w.out(6, Cause::kPseudoAck);
  EXPECT_EQ(w.checks.report().aeth_above_fence, 2u);
  w.out(5, Cause::kResponse);
  w.out(6, Cause::kPseudoAck);
  EXPECT_EQ(w.checks.report().aeth_above_fence, 2u);
}

TEST(ReplayChecks, CountsRepairs) {
  Witness w(three_sends());
  w.in(0);
  w.in(1);
  w.checks.lost_on_span(w.c.view(1, w.flows));
  w.out(0);
  EXPECT_EQ(w.checks.repaired(), 0u);
  EXPECT_EQ(w.checks.report().gone_on_span, 1u);
  w.out(1);
  EXPECT_EQ(w.checks.report().gone_on_span, 0u);
  EXPECT_EQ(w.checks.repaired(), 1u);
}

TEST(ReplayLatency, MeasuresUntilTheAck) {
  const Conversation c = three_sends();
  const TraceFlows flows = c.scan();
  ReplayFence fence(flows);
  ReplayLatency latency(flows, fence, Duration::millis(10));
  for (size_t i = 0; i < 3; ++i)
    latency.entered(c.view(i, flows), Conversation::time_of(i), Instant{static_cast<int64_t>(i)});
  latency.left(c.view(5, flows), Cause::kPseudoAck, Instant{500});
  EXPECT_EQ(latency.with_proxy().samples, 3u);
  EXPECT_EQ(latency.with_proxy().max, 500);
  EXPECT_EQ(latency.with_proxy().p50, 499);
  EXPECT_EQ(latency.without_proxy().samples, 0u);
  latency.entered(c.view(5, flows), Conversation::time_of(5), Instant{0});
  EXPECT_EQ(latency.without_proxy().max, 10'000'000 + 5000);
}

TEST(ReplayLatency, NothingIsMeasuredBehindAGap) {
  const Conversation c = three_sends();
  const TraceFlows flows = c.scan();
  ReplayFence fence(flows);
  ReplayLatency latency(flows, fence, Duration{});
  latency.entered(c.view(0, flows), {}, Instant{0});
  latency.entered(c.view(2, flows), {}, Instant{1});
  latency.entered(c.view(1, flows), {}, Instant{2});
  latency.left(c.view(5, flows), Cause::kPassedAck, Instant{9});
  EXPECT_EQ(latency.with_proxy().samples, 1u);
}

}  // namespace
}  // namespace matchrdma
