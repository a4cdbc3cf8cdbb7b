#include "host/control/control_session.h"

#include <gtest/gtest.h>

#include "host/control/test_hello.h"

namespace matchrdma::host {
namespace {

using State = ControlSession::State;
using Buffer = std::vector<uint8_t>;

Instant at(int64_t ms) { return Instant{} + Duration::millis(ms); }

/// What one wants to say reaches the other whole or byte by byte.
void carry(ControlSession& from, ControlSession& to, Instant now, size_t piece = SIZE_MAX) {
  while (!from.output().empty()) {
    const Bytes b = from.output().first(std::min(piece, from.output().size()));
    to.receive(Buffer(b.begin(), b.end()), now);
    from.sent(b.size());
  }
}

struct Session : testing::Test {
  ControlSession a{test::hello(1), {}, at(0)}, b{test::hello(2), {}, at(0)};
  void open(size_t piece = SIZE_MAX) {
    carry(a, b, at(1), piece);
    carry(b, a, at(1), piece);
    ASSERT_EQ(a.state(), State::kOpen);
    ASSERT_EQ(b.state(), State::kOpen);
  }
  /// What a says when it has heard these bytes.
  std::string answer(const Buffer& bytes) {
    a.receive(bytes, at(2));
    return a.reason();
  }
  static Buffer frame(const ControlMessage& m) {
    Buffer out;
    EXPECT_TRUE(encode(m, out));
    return out;
  }
};

TEST_F(Session, GreetsAndCarriesMessagesInOrder) {
  EXPECT_FALSE(a.send(Fence{}, at(0))) << "not before the HELLO";
  open(1);
  EXPECT_EQ(a.peer(), test::hello(2));
  for (const ControlMessage& m : test::one_of_each()) a.send(m, at(2));
  EXPECT_FALSE(a.send(test::hello(3), at(2)) || a.send(Bye{}, at(2))) << "these are the session's own";
  carry(a, b, at(2), 3);
  std::vector<size_t> got;
  while (const auto m = b.next()) got.push_back(m->index() + 1);
  EXPECT_EQ(got, (std::vector<size_t>{2, 3, 4, 5, 6, 7, 11, 12, 13, 14, 15, 16, 17}));
}

TEST_F(Session, AnotherVersionIsNamedAtBothEnds) {
  Buffer hello(a.output().begin(), a.output().end());
  hello[9] = 9;
  b.receive(hello, at(1));
  const std::string sentence =
      "speaks version 9 of the control protocol, this end (release 0.1.0) version 1: install the same release "
      "of the "
      "library at both ends";
  EXPECT_EQ(b.reason(), "the other end " + sentence);
  EXPECT_FALSE(b.orderly());
  carry(b, a, at(1));
  EXPECT_EQ(a.reason(), "the other end broke off: your end " + sentence);
  EXPECT_EQ(a.state(), State::kOver);
}

TEST_F(Session, TheFirstMessageIsAHello) {
  EXPECT_EQ(answer(frame(Fence{})), "the other end did not begin with a HELLO");
}

TEST_F(Session, ASecondHelloEndsIt) {
  open();
  EXPECT_EQ(answer(frame(test::hello(2))), "the other end sent a second HELLO");
}

TEST_F(Session, GarbageEndsIt) {
  EXPECT_EQ(answer({'G', 'E', 'T', ' ', '/', ' '}),
            "the other end announced a message of 4543520 bytes; 20480 are allowed");
  EXPECT_EQ(a.state(), State::kEnding);
  a.receive(frame(test::hello(2)), at(3));
  EXPECT_EQ(a.state(), State::kEnding) << "nothing it says later is heard";
  a.advance(at(2) + SessionTimes{}.bye);
  EXPECT_EQ(a.state(), State::kOver);
  EXPECT_NE(a.reason().find("4543520"), std::string::npos);
}

TEST_F(Session, AMessageThatBreaksItsLayoutEndsIt) {
  open();
  EXPECT_EQ(answer({3, 0, 0, 1, 0}), "the other end sent a message of type 3 that breaks its layout");
}

TEST_F(Session, AHugeLengthIsRefusedBeforeItsBytesCome) {
  open();
  EXPECT_EQ(answer({200, 0xff, 0xff, 0xff}),
            "the other end announced a message of 16777215 bytes; 20480 are allowed");
}

TEST_F(Session, UnknownTypesAreSkipped) {
  open();
  EXPECT_EQ(answer({200, 0, 0, 2, 1, 2}), "");
  a.receive(frame(Fence{1, 2}), at(2));
  EXPECT_EQ(a.next(), ControlMessage(Fence{1, 2}));
  EXPECT_EQ(a.counters().unknown_type, 1u);
}

TEST_F(Session, WithoutAHelloItEnds) {
  EXPECT_EQ(a.next_wakeup(), at(5000));
  a.advance(at(4999));
  EXPECT_EQ(a.state(), State::kGreeting);
  a.advance(at(5000));
  EXPECT_EQ(a.reason(), "the other end sent no HELLO within 5 s");
}

TEST_F(Session, ASlowDripIsSilence) {
  open();
  const Buffer whole = frame(Fenced{1, 2, 3, Buffer(8000)});
  size_t dripped = 0;
  for (int64_t t = 100; a.state() == State::kOpen && t < 20'000; t += 100) {
    a.receive({&whole[dripped++], 1}, at(t));
    a.advance(at(t));
    a.sent(a.output().size());
  }
  EXPECT_EQ(a.reason(),
            "the other end has said nothing for 10 s: its process hangs, is gone, or the way is cut");
}

TEST_F(Session, PingsKeepItAliveAndTellTheRoundTrip) {
  open();
  for (int64_t t = 10; t < 60'000; t += 10) {
    a.advance(at(t));
    b.advance(at(t));
    carry(a, b, at(t));
    carry(b, a, at(t + 3));
  }
  EXPECT_EQ(a.state(), State::kOpen);
  EXPECT_EQ(b.state(), State::kOpen);
  EXPECT_EQ(a.round_trip(), Duration::millis(3));
}

// A layer above keeps a watch of its own over the same connection.
TEST_F(Session, AnswersToPingsOfLayersAboveAreHandedOn) {
  open();
  ASSERT_TRUE(a.send(Ping{kUpperPing | 7}, at(10)));
  carry(a, b, at(11));
  carry(b, a, at(12));
  EXPECT_FALSE(b.next()) << "the other session answers it";
  const auto m = a.next();
  ASSERT_TRUE(m);
  EXPECT_EQ(std::get<Pong>(*m), (Pong{kUpperPing | 7}));
  EXPECT_FALSE(a.round_trip());
}

TEST_F(Session, WhoDoesNotReadIsHeldUpAndNotTakenForDead) {
  open();
  size_t sent = 0;
  for (; a.wants_input() && sent < 10'000; ++sent) a.receive(frame(Fence{1, 2}), at(2));
  EXPECT_EQ(sent, ControlSession::kInboxLimit);
  a.advance(at(15'000));
  EXPECT_EQ(a.state(), State::kOpen);
  EXPECT_TRUE(a.next());
  EXPECT_TRUE(a.wants_input());
  a.advance(at(24'900));
  EXPECT_EQ(a.state(), State::kOpen) << "silence begins when it listens again";
}

TEST_F(Session, AFullQueueTakesNoMore) {
  open();
  const Fenced large{1, 2, 3, Buffer(kMaxFenceDetail)};
  size_t taken = 0;
  while (taken < 1000 && a.send(large, at(2))) ++taken;
  EXPECT_EQ(taken, ControlSession::kOutputLimit / kMaxFenceDetail);
  EXPECT_FALSE(a.wants_input()) << "its PINGs would make the queue longer still";
  a.sent(100'000);
  EXPECT_TRUE(a.send(large, at(2)));
}

TEST_F(Session, GoodByeIsToldAndTheRestIsReadable) {
  open();
  a.send(Fence{1, 2}, at(2));
  a.end("the job is done", at(2));
  EXPECT_FALSE(a.send(Fence{3, 4}, at(2)));
  carry(a, b, at(2));
  EXPECT_EQ(b.state(), State::kOver);
  EXPECT_TRUE(b.orderly());
  EXPECT_EQ(b.reason(), "the other end said good-bye: the job is done");
  EXPECT_EQ(b.next(), ControlMessage(Fence{1, 2}));
  EXPECT_EQ(a.state(), State::kEnding) << "until the other end closes";
  a.lost("closed");
  EXPECT_TRUE(a.orderly());
  EXPECT_EQ(a.reason(), "this end said good-bye: the job is done");
}

TEST_F(Session, BothMaySayGoodByeAtOnce) {
  open();
  a.end("done", at(2));
  b.end("done", at(2));
  const Buffer from_b(b.output().begin(), b.output().end());
  carry(a, b, at(2));
  a.receive(from_b, at(2));
  EXPECT_EQ(a.state(), State::kOver);
  EXPECT_EQ(b.state(), State::kOver);
  EXPECT_TRUE(a.orderly() && b.orderly());
}

TEST_F(Session, ABrokenConnectionIsNoGoodBye) {
  open();
  a.lost("the cable is out");
  EXPECT_EQ(a.state(), State::kOver);
  EXPECT_FALSE(a.orderly());
  EXPECT_EQ(a.reason(), "the cable is out");
  EXPECT_TRUE(a.next_wakeup().is_never());
}

}  // namespace
}  // namespace matchrdma::host
