#include "model/rc_responder.h"

#include <gtest/gtest.h>

#include "dataplane/wire/icrc.h"
#include "model/aeth.h"
#include "model/rules_fixture.h"

namespace matchrdma::model {
namespace {

using Responder = RulesTest;

/// A copy with one byte changed and the ICRC made right: what a faulty proxy would send.
PacketRef forged(PacketArena& arena, const PacketRef& p, uint32_t offset) {
  PacketRef q = arena.copy(p->bytes());
  q->data[offset] ^= 1;
  write_icrc(parse_frame(q->bytes()).frame, {q->data, q->size});
  return q;
}

TEST_F(Responder, DuplicateWriteIsAcknowledgedNotExecuted) {  // IBA C9-105
  open();
  post(WrType::kWrite, 3 * kMtu);
  const auto p = take(a);
  to_b(p);
  ASSERT_EQ(take(b).size(), 1u);
  to_b(p[1]);
  const auto again = take(b);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(frame(again[0]).psn().v, 102u);
  EXPECT_EQ(frame(again[0]).aeth_msn().v, 1u);
  EXPECT_EQ(responder().stats().executed, 3u);
  EXPECT_EQ(responder().executions().size(), 3u);
}

TEST_F(Responder, DuplicateAtomicIsAnsweredFromItsResult) {
  config.responder_b.atomic_resources = 2;
  open();
  for (int i = 0; i < 3; ++i) post(WrType::kFetchAdd, 8, 64);
  const auto p = take(a);
  to_b(p);
  const auto first = take(b);
  ASSERT_EQ(first.size(), 3u);
  const uint64_t value = responder().memory().load64(config.memory_b.base + 64);
  to_b(p[2]);
  to_b(p[0]);  // its result is gone: silence
  const auto again = take(b);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(load_be64(frame(again[0]).data() + frame(again[0]).ext_offset() + 4),
            load_be64(frame(first[2]).data() + frame(first[2]).ext_offset() + 4));
  EXPECT_EQ(responder().memory().load64(config.memory_b.base + 64), value);
  EXPECT_EQ(responder().stats().forgotten_atomics, 1u);
}

TEST_F(Responder, DuplicateReadRunsOnMemoryAsItIsNow) {
  open();
  post(WrType::kRead, 16, 0);
  post(WrType::kWrite, 16, 0);
  const auto p = take(a);
  to_b(p[0]);
  const auto first = take(b);
  to_b(p[1]);
  take(b);
  to_b(p[0]);
  const auto second = take(b);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_NE(0, std::memcmp(frame(first[0]).payload().data(), frame(second[0]).payload().data(), 16));
  to_a(second);  // the requester knows that this is legal
  EXPECT_TRUE(requester().violations().empty());
}

TEST_F(Responder, OneNakForOneGap) {
  open();
  for (int i = 0; i < 6; ++i) post(WrType::kWrite, 10);
  const auto p = take(a);
  to_b(p[1]);
  to_b(p[2]);
  auto answers = take(b);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(frame(answers[0]).aeth_syndrome(), kNakSequence);
  EXPECT_EQ(frame(answers[0]).psn().v, 100u);
  to_b(p[0]);
  EXPECT_EQ(take(b).size(), 1u);
  to_b(p[3]);  // a new gap earns a new NAK
  answers = take(b);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(frame(answers[0]).psn().v, 101u);
}

TEST_F(Responder, EmptyReceiveQueueRefuses) {
  config.responder_b.receive_queue = 1;
  config.responder_b.refill_batch = 0;
  open();
  post(WrType::kSend, 10);
  post(WrType::kWriteImm, 10);
  post(WrType::kWrite, 10);
  const auto p = take(a);
  to_b(p);
  auto answers = take(b);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(frame(answers[0]).aeth_syndrome(), kAckUnlimited);
  EXPECT_EQ(frame(answers[1]).aeth_syndrome(), kAethRnr | 12);
  EXPECT_EQ(frame(answers[1]).psn().v, 101u);
  EXPECT_EQ(frame(answers[2]).aeth_syndrome(), kNakSequence);  // as rxe does (k2_send_rnr_nak)
  responder().post_receives(1, now);
  to_b(p[1]);
  to_b(p[2]);
  EXPECT_EQ(responder().expected(), 103);
  EXPECT_EQ(responder().received().size(), 2u);
}

TEST_F(Responder, CreditsTellTheReceiveQueue) {
  config.responder_b.receive_queue = 5;
  config.responder_b.refill_batch = 0;
  config.responder_b.advertise_credits = true;
  open();
  for (int i = 0; i < 5; ++i) post(WrType::kSend, 10);
  to_b(take(a));
  const auto answers = take(b);
  ASSERT_EQ(answers.size(), 5u);
  for (uint32_t i = 0; i < 5; ++i) EXPECT_EQ(frame(answers[i]).aeth_syndrome(), kAethAck | (4 - i));
  responder().post_receives(7, now);  // tells without being asked
  const auto update = take(b);
  ASSERT_EQ(update.size(), 1u);
  EXPECT_EQ(frame(update[0]).psn().v, 104u);
  EXPECT_EQ(decode_credits(frame(update[0]).aeth_syndrome()), 6u);
}

TEST_F(Responder, DelayedAcksCoalesce) {
  config.responder_b.ack = AckPolicy::kDelayed;
  open();
  for (int i = 0; i < 5; ++i) post(WrType::kWrite, 10);
  to_b(take(a));
  EXPECT_TRUE(take(b).empty());
  now = now + config.responder_b.ack_delay;
  const auto answers = take(b);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(frame(answers[0]).psn().v, 104u);
  EXPECT_EQ(frame(answers[0]).aeth_msn().v, 5u);
}

TEST_F(Responder, InjectedFault) {
  open();
  for (int i = 0; i < 3; ++i) post(WrType::kWrite, 10);
  responder().inject_nak(kNakRemoteOperation, 101);
  to_b(take(a));
  EXPECT_TRUE(responder().failed());
  to_a(take(b));
  EXPECT_EQ(requester().records()[1].status, WcStatus::kRemoteOperation);
  EXPECT_EQ(requester().completed(), 1u);
}

TEST_F(Responder, NoticesChangedPayloadAndHeaders) {
  open();
  post(WrType::kWrite, 2 * kMtu);
  const auto p = take(a);
  to_b(forged(arena, p[0], frame(p[0]).reth_offset() + 7));  // another address
  to_b(forged(arena, p[1], frame(p[1]).payload_offset() + 9));
  EXPECT_EQ(kinds(responder().violations()),
            (std::vector{ViolationKind::kHeaderDiffers, ViolationKind::kPayloadDiffers}));
  EXPECT_FALSE(pair.check_memory(now));
}

TEST_F(Responder, NoticesRenumberedPackets) {
  open();
  post(WrType::kSend, 10);
  const auto p = take(a);
  to_b(p);
  to_b(forged(arena, p[0], frame(p[0]).bth_offset() + 11));  // PSN 101, which nobody posted
  const auto seen = kinds(responder().violations());
  EXPECT_EQ(seen, (std::vector{ViolationKind::kPayloadDiffers, ViolationKind::kRequestNeverSent}));
}

TEST_F(Responder, WrongIcrcLeavesNoTrace) {
  open();
  post(WrType::kWrite, 10);
  const auto p = take(a);
  PacketRef bad = arena.copy(p[0]->bytes());
  bad->data[bad->size - 5] ^= 0x10;
  to_b(bad);
  EXPECT_EQ(b.stats().bad_icrc, 1u);
  EXPECT_TRUE(take(b).empty());
  EXPECT_EQ(responder().stats().executed, 0u);
}

TEST_F(Responder, MarkedPacketsEarnCnps) {
  Host c{{.cnp_interval = Duration::micros(50)}, arena};
  pair = connect(a, c, config);
  for (int i = 0; i < 3; ++i) post(WrType::kWrite, 10);
  for (auto& p : take(a)) {
    rewrite_ecn(frame(p), {p->data, p->size}, 3);
    c.on_packet(p->bytes(), now);
  }
  const auto answers = take(c);
  ASSERT_EQ(answers.size(), 4u);
  EXPECT_EQ(frame(answers[0]).opcode(), op::kCnp);
  to_a(answers);
  EXPECT_EQ(requester().stats().cnps, 1u);
  EXPECT_TRUE(a.idle());
}

TEST_F(Responder, ExhaustedPoolIsTriedAgain) {
  PacketArena small{{.max_packets = 1}};
  Host d{{}, small};
  pair = connect(d, b, config);
  post(WrType::kWrite, 2 * kMtu);
  auto first = take(d);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(d.next_deadline(), now + Duration::micros(1));
  first.clear();
  now = d.next_deadline();
  EXPECT_EQ(take(d).size(), 1u);
}

}  // namespace
}  // namespace matchrdma::model
