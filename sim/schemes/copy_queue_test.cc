#include "sim/schemes/copy_queue.h"

#include <gtest/gtest.h>

namespace matchrdma::sim {
namespace {

using Arrival = CopyQueue::Arrival;

constexpr SimSpan kRoundTrip = SimSpan::micros(100);

SimTime at_us(int64_t us) { return SimTime{} + SimSpan::micros(us); }

SimPacket data(int64_t seq) {
  SimPacket p;
  p.seq = seq;
  p.size = 100;
  p.payload = 50;
  p.message = 500 + static_cast<uint32_t>(seq);
  p.starts_message = seq % 2 == 0;
  p.ends_message = seq % 2 == 1;
  return p;
}

void fill(CopyQueue& q, int64_t from, int64_t to, SimTime now) {
  for (int64_t i = from; i < to; ++i) EXPECT_EQ(q.arrive(data(i), now), Arrival::kPass);
}

TEST(CopyQueue, AcknowledgesWhatIsInOrder) {
  CopyMemory memory(10'000);
  CopyQueue q(memory, kRoundTrip);
  fill(q, 0, 3, at_us(0));
  EXPECT_EQ(q.acknowledged(), 3);
  EXPECT_EQ(q.arrive(data(4), at_us(1)), Arrival::kGap);
  EXPECT_EQ(q.arrive(data(1), at_us(1)), Arrival::kAgain);
  EXPECT_EQ(q.acknowledged(), 3);
  EXPECT_EQ(memory.used(), 300);
}

TEST(CopyQueue, KeepsCopiesUntilTheReceiverHasThem) {
  CopyMemory memory(10'000);
  CopyQueue q(memory, kRoundTrip);
  fill(q, 0, 4, at_us(0));
  EXPECT_TRUE(q.release(3));
  EXPECT_EQ(memory.used(), 100);
  EXPECT_FALSE(q.release(3));
  EXPECT_FALSE(q.release(1));
  EXPECT_EQ(q.arrive(data(1), at_us(1)), Arrival::kAgain);
  EXPECT_TRUE(q.release(4));
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(memory.used(), 0);
  EXPECT_EQ(memory.peak(), 400);
}

TEST(CopyQueue, SendsAgainFromWhatIsAskedFor) {
  CopyMemory memory(10'000);
  CopyQueue q(memory, kRoundTrip);
  fill(q, 0, 4, at_us(0));
  EXPECT_TRUE(q.ask(2, at_us(100)));
  // What comes meanwhile waits behind.
  EXPECT_EQ(q.arrive(data(4), at_us(101)), Arrival::kWait);
  EXPECT_EQ(q.acknowledged(), 5);
  SimPacket p;
  for (int64_t i = 2; i < 5; ++i) {
    ASSERT_EQ(q.next(p, at_us(102)), CopyQueue::Next::kCopy);
    EXPECT_EQ(p.seq, i);
    EXPECT_EQ(p.size, 100u);
    EXPECT_EQ(p.payload, 50u);
    EXPECT_EQ(p.message, 500u + i);
    EXPECT_EQ(p.starts_message, i % 2 == 0);
    EXPECT_EQ(p.ends_message, i % 2 == 1);
  }
  EXPECT_EQ(q.next(p, at_us(102)), CopyQueue::Next::kNothing);
  EXPECT_EQ(q.arrive(data(5), at_us(103)), Arrival::kPass);
}

TEST(CopyQueue, IsNotAskedTwiceForOneLoss) {
  CopyMemory memory(10'000);
  CopyQueue q(memory, kRoundTrip);
  fill(q, 0, 4, at_us(0));
  EXPECT_FALSE(q.ask(2, at_us(99)));  // too early to be an answer
  EXPECT_TRUE(q.ask(2, at_us(100)));
  SimPacket p;
  while (q.next(p, at_us(100)) == CopyQueue::Next::kCopy) {
  }
  EXPECT_FALSE(q.ask(2, at_us(199)));
  EXPECT_TRUE(q.ask(2, at_us(200)));
  EXPECT_FALSE(q.ask(3, at_us(400)));  // is about to be sent
  EXPECT_FALSE(q.ask(4, at_us(400)));  // has not come
  q.release(3);
  EXPECT_FALSE(q.ask(2, at_us(400)));  // is there
}

TEST(CopyQueue, LeavesToTheSenderWhatFindsNoRoom) {
  CopyMemory memory(250);
  CopyQueue q(memory, kRoundTrip);
  fill(q, 0, 4, at_us(0));
  EXPECT_EQ(memory.used(), 200);
  EXPECT_EQ(q.acknowledged(), 2);
  // One that has a copy again is not acknowledged before those that have none.
  q.release(1);
  fill(q, 4, 5, at_us(1));
  EXPECT_EQ(q.acknowledged(), 2);
  EXPECT_EQ(q.arrive(data(3), at_us(2)), Arrival::kPass);  // the sender's repair
  EXPECT_FALSE(q.ask(3, at_us(101)));                      // which is on its way
  EXPECT_EQ(q.arrive(data(4), at_us(2)), Arrival::kAgain);
  q.release(3);
  EXPECT_EQ(q.acknowledged(), 3);
  q.release(4);
  EXPECT_EQ(q.acknowledged(), 5);
  q.release(5);
  EXPECT_EQ(memory.used(), 0);
}

TEST(CopyQueue, TheSenderGoesBackToItsFirstWithoutACopy) {
  CopyMemory memory(250);
  CopyQueue q(memory, kRoundTrip);
  fill(q, 0, 4, at_us(0));
  q.release(1);
  fill(q, 4, 6, at_us(0));  // copies of 1 and 4; the receiver is not known to have 2 and 3
  EXPECT_TRUE(q.ask(4, at_us(200)));
  SimPacket p;
  EXPECT_EQ(q.next(p, at_us(200)), CopyQueue::Next::kCopy);
  EXPECT_EQ(p.seq, 4);
  EXPECT_EQ(q.next(p, at_us(200)), CopyQueue::Next::kAskSender);
  EXPECT_EQ(q.acknowledged(), 2);
  EXPECT_EQ(q.arrive(data(3), at_us(201)), Arrival::kGap);
  fill(q, 2, 4, at_us(202));
}

TEST(CopyQueue, AsksTheSenderWhereThereIsNoCopy) {
  CopyMemory memory(250);
  CopyQueue q(memory, kRoundTrip);
  fill(q, 0, 4, at_us(0));
  q.go_back();
  EXPECT_EQ(q.arrive(data(4), at_us(1)), Arrival::kRefuse);
  SimPacket p;
  EXPECT_EQ(q.next(p, at_us(1)), CopyQueue::Next::kCopy);
  EXPECT_EQ(q.next(p, at_us(1)), CopyQueue::Next::kCopy);
  EXPECT_EQ(q.next(p, at_us(1)), CopyQueue::Next::kAskSender);
  EXPECT_EQ(q.acknowledged(), 2);
  EXPECT_EQ(q.arrive(data(3), at_us(2)), Arrival::kGap);
  EXPECT_EQ(q.arrive(data(2), at_us(2)), Arrival::kPass);
  // The first ones have come through all the same.
  EXPECT_TRUE(q.release(4));
  EXPECT_EQ(q.acknowledged(), 4);
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(memory.used(), 0);
  EXPECT_EQ(q.arrive(data(4), at_us(3)), Arrival::kPass);
}

}  // namespace
}  // namespace matchrdma::sim
