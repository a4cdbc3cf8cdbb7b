// Where one life of a queue pair ends in a capture, and what is only a repetition.
#include "pcap/trace_lives.h"

#include <gtest/gtest.h>

#include "pcap/test_conversation.h"

namespace matchrdma {
namespace {

using test::Conversation;

constexpr uint32_t kMessages = 20;

RoceSpec message(uint32_t psn, uint64_t va = 0x1000) {
  RoceSpec r = Conversation::request(op::kRcWriteOnly, 0x12, psn);
  r.va = va;
  return r;
}

/// One life, all of it answered.
Conversation life(uint32_t start = 0) {
  Conversation c;
  for (uint32_t m = 0; m < kMessages; ++m)
    c.a(message(start + m, 0x1000 + m)).b(Conversation::ack(0x11, start + m, m + 1));
  return c;
}

/// How many lives the QPs 0x12 (asked) and 0x11 (answering) have.
std::pair<int, int> lives(const Conversation& c) {
  std::pair<int, int> n;
  const TraceFlows flows = c.scan();
  for (const TraceStream& s : flows.streams()) ++(s.key.dst_qpn.v == 0x12 ? n.first : n.second);
  return n;
}

using Lives = std::pair<int, int>;

TEST(TraceLives, ARepetitionIsNone) {
  Conversation c = life();
  c.a(message(5, 0x1005)).b(Conversation::ack(0x11, kMessages - 1, kMessages));
  c.pause(3).a(message(0, 0x1000)).a(message(19, 0x1013), 0xdead);
  EXPECT_EQ(lives(c), (Lives{1, 1}));
}

TEST(TraceLives, OldNumbersWithNewContentAreAnother) {
  EXPECT_EQ(lives(life().a(message(0, 0x9000))), (Lives{2, 1}));
  EXPECT_EQ(lives(life().a(message(7, 0x9000))), (Lives{2, 1}));
}

TEST(TraceLives, JumpsAreAnother) {
  EXPECT_EQ(lives(life().a(message(kMessages + 4000))), (Lives{1, 1}));  // lost before the tap
  EXPECT_EQ(lives(life().a(message(kMessages + 5000))), (Lives{2, 1}));
  EXPECT_EQ(lives(life(0x200000).a(message(0x200000 - 0x20000))), (Lives{2, 1}));
}

// IBA 9.7.5.1.1: MSNs only grow. What merely overtook is not a new life.
TEST(TraceLives, MessageCountsThatFallAreAnother) {
  EXPECT_EQ(lives(life().b(Conversation::ack(0x11, 3, 2))), (Lives{1, 1}));
  EXPECT_EQ(lives(life().pause(1).b(Conversation::ack(0x11, 3, 2))), (Lives{1, 2}));
  EXPECT_EQ(lives(life().pause(1).b(Conversation::ack(0x11, kMessages, kMessages + 1))), (Lives{1, 1}));
}

TEST(TraceLives, EachPacketKnowsItsOwn) {
  Conversation c = life();
  c.pause(1).a(message(0, 0x9000)).b(Conversation::ack(0x11, 0, 1));
  const TraceFlows flows = c.scan();
  const auto stream = [&](size_t i) { return flows.stream_at(c.view(i, flows).parsed, i); };
  EXPECT_EQ(stream(0), stream(2 * kMessages - 2));
  EXPECT_NE(stream(0), stream(2 * kMessages));
  EXPECT_NE(stream(1), stream(2 * kMessages + 1));
  const TraceStream& second = flows.streams()[static_cast<size_t>(stream(2 * kMessages))];
  EXPECT_EQ(second.previous_life, stream(0));
  EXPECT_EQ(second.life, 1);
  for (size_t i = 0; i < flows.streams().size(); ++i) EXPECT_FALSE(flows.can_register(i));
}

}  // namespace
}  // namespace matchrdma
