#include "model/rc_requester.h"

#include <gtest/gtest.h>

#include "model/aeth.h"
#include "model/rules_fixture.h"

namespace matchrdma::model {
namespace {

using Requester = RulesTest;

TEST_F(Requester, SegmentsAndAsksForAcks) {
  config.requester_a.ack_every = 4;
  open();
  post(WrType::kWriteImm, 6 * kMtu + 5);
  post(WrType::kSendInv, 0);
  const auto p = take(a);
  ASSERT_EQ(p.size(), 8u);
  EXPECT_EQ(frame(p[0]).opcode(), op::kRcWriteFirst);
  EXPECT_EQ(frame(p[0]).reth_length(), 6 * kMtu + 5);
  EXPECT_EQ(frame(p[1]).opcode(), op::kRcWriteMiddle);
  EXPECT_EQ(frame(p[6]).opcode(), op::kRcWriteLastImm);
  EXPECT_EQ(frame(p[6]).payload_length(), 5u);
  EXPECT_EQ(frame(p[7]).opcode(), op::kRcSendOnlyInv);
  for (size_t i = 0; i < p.size(); ++i) {
    EXPECT_EQ(frame(p[i]).psn().v, 100 + i);
    EXPECT_EQ(frame(p[i]).ack_req(), i == 3 || i == 6 || i == 7) << i;
  }
}

TEST_F(Requester, WindowOfPsns) {
  open();
  post(WrType::kWrite, 200 * kMtu);
  auto p = take(a);
  ASSERT_EQ(p.size(), 128u);
  EXPECT_TRUE(frame(p[63]).ack_req());
  EXPECT_TRUE(frame(p[127]).ack_req());
  aeth_to_a(kAckUnlimited, 163, 0);
  p = take(a);
  EXPECT_EQ(p.size(), 64u);
}

TEST_F(Requester, SequenceNakRestartsInsideTheMessage) {
  open();
  post(WrType::kWrite, 2 * kMtu);
  post(WrType::kWrite, 5 * kMtu);
  take(a);
  aeth_to_a(kNakSequence, 104, 1);
  EXPECT_EQ(requester().completed(), 1u);  // C2: the NAK acknowledges all before it
  EXPECT_EQ(requester().oldest_unacknowledged(), 104);
  const auto p = take(a);
  ASSERT_EQ(p.size(), 3u);
  EXPECT_EQ(frame(p[0]).opcode(), op::kRcWriteMiddle);  // no RETH
  EXPECT_EQ(frame(p[0]).psn().v, 104u);
  EXPECT_EQ(frame(p[2]).opcode(), op::kRcWriteLast);
  aeth_to_a(kNakSequence, 104, 1);  // the same loss told twice
  EXPECT_TRUE(take(a).empty());
}

TEST_F(Requester, OldAcksAreIgnoredUnknownOnesAreViolations) {
  open();
  post(WrType::kWrite, 3 * kMtu);
  take(a);
  aeth_to_a(kAckUnlimited, 101, 0);
  aeth_to_a(kAckUnlimited, 100, 0);
  aeth_to_a(kNakSequence, 99, 0);
  EXPECT_EQ(requester().stats().stale, 2u);
  EXPECT_TRUE(requester().violations().empty());
  aeth_to_a(kAckUnlimited, 103, 1);
  aeth_to_a(kNakSequence, 103, 1);
  EXPECT_EQ(kinds(requester().violations()),
            (std::vector{ViolationKind::kAckNeverSent, ViolationKind::kNakNeverSent}));
  EXPECT_EQ(requester().completed(), 0u);
}

TEST_F(Requester, MsnMustFitWhatIsAcknowledged) {
  open();
  for (int i = 0; i < 4; ++i) post(WrType::kWrite, 10);
  take(a);
  aeth_to_a(kAckUnlimited, 100, 0);  // acknowledges one message, counts none
  aeth_to_a(kAckUnlimited, 101, 5);  // counts more than were sent
  aeth_to_a(kAckUnlimited, 102, 3);  // less than before
  EXPECT_EQ(kinds(requester().violations()),
            (std::vector{ViolationKind::kMsnBehind, ViolationKind::kMsnAhead, ViolationKind::kMsnDecreased}));
}

TEST_F(Requester, OvertakenNakIsNoMsnViolation) {  // seen in the swarm: the span reorders, a READ holds una
  open();
  post(WrType::kRead, 10);
  post(WrType::kWrite, 10);
  take(a);
  aeth_to_a(kAckUnlimited, 101, 2);
  aeth_to_a(kNakSequence, 101, 1);
  EXPECT_TRUE(requester().violations().empty());
}

TEST_F(Requester, HoleInReadResponsesAsksForTheRest) {
  open();
  const size_t wr = post(WrType::kRead, 4 * kMtu + 3, 512);
  to_b(take(a));
  const auto responses = take(b);
  ASSERT_EQ(responses.size(), 5u);
  to_a(responses[0]);
  to_a(responses[2]);  // [1] was lost
  auto p = take(a);
  ASSERT_EQ(p.size(), 1u);
  EXPECT_EQ(frame(p[0]).opcode(), op::kRcReadReq);
  EXPECT_EQ(frame(p[0]).psn().v, 101u);
  EXPECT_EQ(frame(p[0]).reth_va(), config.memory_b.base + 512 + kMtu);
  EXPECT_EQ(frame(p[0]).reth_length(), 3 * kMtu + 3);
  to_a(responses[3]);  // the rest of the first answer asks nothing more
  EXPECT_TRUE(take(a).empty());
  to_b(p);
  to_a(take(b));
  EXPECT_EQ(requester().records()[wr].status, WcStatus::kSuccess);
  EXPECT_TRUE(requester().violations().empty());
}

TEST_F(Requester, TimeoutAsksForTheMissingPartOfARead) {
  open();
  post(WrType::kRead, 3 * kMtu);
  to_b(take(a));
  const auto responses = take(b);
  to_a(responses[0]);
  now = a.next_deadline();
  const auto p = take(a);
  ASSERT_EQ(p.size(), 1u);
  EXPECT_EQ(frame(p[0]).psn().v, 101u);
  EXPECT_EQ(frame(p[0]).reth_length(), 2 * kMtu);
  EXPECT_EQ(requester().stats().timeouts, 1u);
}

TEST_F(Requester, AckPastAnUnansweredReadTellsThatItsResponseWasLost) {
  open();
  post(WrType::kWrite, 10);
  post(WrType::kRead, 2 * kMtu);
  post(WrType::kWrite, 10);
  take(a);
  aeth_to_a(kAckUnlimited, 103, 3);
  EXPECT_EQ(requester().completed(), 1u);
  EXPECT_EQ(requester().stats().implied_naks, 1u);
  const auto p = take(a);
  ASSERT_EQ(p.size(), 2u);
  EXPECT_EQ(frame(p[0]).opcode(), op::kRcReadReq);
  EXPECT_EQ(frame(p[0]).psn().v, 101u);
  EXPECT_EQ(frame(p[1]).opcode(), op::kRcWriteOnly);
  EXPECT_TRUE(requester().violations().empty());
  aeth_to_a(kAckUnlimited, 101, 2);  // no receiver acknowledges half a READ
  aeth_to_a(kNakSequence, 102, 2);
  EXPECT_EQ(kinds(requester().violations()),
            (std::vector{ViolationKind::kAckInsideRead, ViolationKind::kNakInsideRead}));
}

TEST_F(Requester, RnrNakWaitsItsTimer) {
  open();
  post(WrType::kSend, 3 * kMtu);
  take(a);
  aeth_to_a(kAethRnr | 5, 100, 0);  // 60 us
  aeth_to_a(kNakSequence, 100, 0);  // ignored during the wait
  EXPECT_TRUE(take(a).empty());
  EXPECT_EQ(a.next_deadline(), now + Duration::micros(60));
  now = a.next_deadline() - Duration::nanos(1);
  EXPECT_TRUE(take(a).empty());
  now = now + Duration::nanos(1);
  const auto p = take(a);
  ASSERT_EQ(p.size(), 3u);
  EXPECT_EQ(frame(p[0]).opcode(), op::kRcSendFirst);
}

TEST_F(Requester, RnrRetriesEnd) {
  config.requester_a.rnr_retry = 2;
  open();
  const size_t wr = post(WrType::kSend, 10);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(requester().failed());
    EXPECT_EQ(take(a).size(), 1u);
    aeth_to_a(kAethRnr | 1, 100, 0);
    now = now + Duration::micros(10);
  }
  EXPECT_EQ(requester().records()[wr].status, WcStatus::kRnrRetryExceeded);
  EXPECT_TRUE(take(a).empty());
}

TEST_F(Requester, TimeoutsBackOffAndEnd) {
  config.requester_a.retry_count = 3;
  config.requester_a.exponential_timeout = true;
  open();
  post(WrType::kWrite, 10);
  post(WrType::kWrite, 10);
  const Instant start = now;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(take(a).size(), 2u);
    now = a.next_deadline();
  }
  EXPECT_EQ(now - start, Duration::millis(1 + 2 + 4 + 8));
  EXPECT_TRUE(take(a).empty());
  EXPECT_EQ(requester().failure(), WcStatus::kRetryExceeded);
  EXPECT_EQ(requester().records()[0].status, WcStatus::kRetryExceeded);
  EXPECT_EQ(requester().records()[1].status, WcStatus::kFlushed);
  EXPECT_TRUE(a.next_deadline().is_never());
  EXPECT_EQ(requester().records()[post(WrType::kWrite, 1)].status, WcStatus::kFlushed);
}

TEST_F(Requester, FatalNakFailsTheQp) {
  open();
  post(WrType::kWrite, 10);
  const size_t bad = post(WrType::kWrite, 10, config.memory_b.size);  // one byte behind the region
  post(WrType::kWrite, 10);
  to_b(take(a));
  to_a(take(b));
  EXPECT_EQ(requester().records()[0].status, WcStatus::kSuccess);
  EXPECT_EQ(requester().records()[bad].status, WcStatus::kRemoteAccess);
  EXPECT_EQ(requester().records()[2].status, WcStatus::kFlushed);
  EXPECT_TRUE(pair.b->failed());
  EXPECT_EQ(pair.a->violations() + pair.b->violations(), 0u);
}

TEST_F(Requester, LimitsOutstandingReadsAndAtomics) {
  config.requester_a.max_rd_atomic = 2;
  open();
  post(WrType::kRead, 10);
  post(WrType::kFetchAdd, 8, 1024);
  post(WrType::kRead, 10);
  post(WrType::kWrite, 10);
  const auto p = take(a);
  ASSERT_EQ(p.size(), 2u);
  to_b(p);
  to_a(take(b)[0]);
  EXPECT_EQ(take(a).size(), 2u);
}

TEST_F(Requester, CreditsLimitSends) {
  config.requester_a.use_credits = true;
  open();
  post(WrType::kSend, 2 * kMtu);
  for (int i = 0; i < 3; ++i) post(WrType::kSend, 10);
  auto p = take(a);
  ASSERT_EQ(p.size(), 1u);  // nothing is known of the receiver: one packet goes as a probe
  EXPECT_TRUE(frame(p[0]).ack_req());
  aeth_to_a(kAethAck | 0, 100, 0);
  p = take(a);  // accepted: the rest of this message has its work request, the next one is a probe again
  ASSERT_EQ(p.size(), 2u);
  EXPECT_EQ(frame(p[0]).opcode(), op::kRcSendLast);
  aeth_to_a(kAethAck | 3, 101, 1);
  EXPECT_EQ(take(a).size(), 2u);
}

TEST_F(Requester, WritesNeedNoCredits) {
  config.requester_a.use_credits = true;
  open();
  for (int i = 0; i < 3; ++i) post(WrType::kWrite, 10);
  EXPECT_EQ(take(a).size(), 3u);
}

TEST_F(Requester, AtomicMustReturnWhatExactlyOnceGives) {
  open();
  post(WrType::kFetchAdd, 8, 8);
  to_b(take(a));
  take(b);
  RoceSpec s;
  s.opcode = op::kRcAtomicAck;
  s.dest_qp = config.qpn_a;
  s.psn = Psn{100};
  s.syndrome = kAckUnlimited;
  s.msn = Msn{1};
  s.atomic_original = requester().records()[0].expected_original + 7;  // as if it had run twice
  to_a(build_roce(pair.b->id.path, s, arena));
  EXPECT_EQ(kinds(requester().violations()), std::vector{ViolationKind::kAtomicValue});
}

TEST_F(Requester, ResponseWithoutARead) {
  open();
  post(WrType::kWrite, 10);
  take(a);
  RoceSpec s;
  s.opcode = op::kRcReadRespOnly;
  s.dest_qp = config.qpn_a;
  s.psn = Psn{100};
  to_a(build_roce(pair.b->id.path, s, arena));
  EXPECT_EQ(kinds(requester().violations()), std::vector{ViolationKind::kResponseNeverAsked});
}

TEST(AethTables, CreditsRoundDown) {
  EXPECT_EQ(decode_credits(encode_credits(0)), 0u);
  EXPECT_EQ(encode_credits(5), 4);
  EXPECT_EQ(encode_credits(100'000), 30);
  for (uint8_t code = 0; code < 31; ++code) EXPECT_EQ(encode_credits(decode_credits(code)), code);
}

TEST(AethTables, RnrTimers) {
  EXPECT_EQ(decode_rnr_timer(0), Duration::micros(655'360));
  EXPECT_EQ(decode_rnr_timer(1), Duration::micros(10));
  EXPECT_EQ(decode_rnr_timer(12), Duration::micros(640));
  EXPECT_EQ(decode_rnr_timer(14), Duration::micros(1280));
  EXPECT_EQ(decode_rnr_timer(31), Duration::micros(491'520));
}

}  // namespace
}  // namespace matchrdma::model
