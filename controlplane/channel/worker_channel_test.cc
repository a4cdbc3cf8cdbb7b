// One worker's channel: batching, order, and that whatever is wrong is counted and changes nothing (C11).
#include "controlplane/channel/worker_channel.h"

#include <gtest/gtest.h>

#include "controlplane/channel/test_leaves.h"
#include "controlplane/channel/test_messages.h"
#include "controlplane/channel/test_proxy.h"

namespace matchrdma {
namespace {

using test::Buffer;

struct Recorder : DatagramSink {
  void datagram(Queue queue, Bytes b) override {
    EXPECT_LE(b.size(), kMaxDatagramBytes);
    sent.emplace_back(queue, Buffer(b.begin(), b.end()));
  }
  std::vector<std::pair<Queue, Buffer>> sent;
};

/// Two ends of one session, without a handshake.
struct Ends {
  Ends() {
    test::SeededEntropy entropy(1);
    const RandomPair pair{entropy.nonce32(), entropy.nonce32()};
    keys_a = SessionKeys(test::psk(1), pair);
    keys_b = SessionKeys(test::psk(1), pair.mirrored());
    a.update({1, keys_a, {*keys_a}});
    b.update({1, keys_b, {*keys_b}});
  }
  /// A datagram of these bytes under the seal that `a` would use, were it broken.
  Buffer forged_by_peer(Queue queue, Bytes payload) const {
    Sealer s(*keys_a, 2);
    Buffer d(kMaxDatagramBytes);
    d.resize(*s.seal(queue, payload, d));
    return d;
  }
  std::optional<SessionKeys> keys_a, keys_b;
  WorkerChannel a{2}, b{2};
  Recorder sink;
  std::vector<Message> got;
};

TEST(WorkerChannel, KeepsTheOrderOfEachQueueAndFillsDatagrams) {
  Ends e;
  test::MessageMaker make(1);
  std::vector<std::vector<uint64_t>> said[kQueues], heard[kQueues];
  for (int i = 0; i < 5000; ++i) {
    const Message m = make.any();
    said[in_data_queue(m)].push_back(test::leaves_of(m));
    e.a.send(m, e.sink);
    if (i % 700 == 0) e.a.flush_data(e.sink);
    if (i % 900 == 0) e.a.flush(e.sink);
  }
  e.a.flush(e.sink);
  for (const auto& [queue, d] : e.sink.sent) {
    std::vector<Message> got;
    e.b.receive(d, got);
    for (const Message& m : got) {
      EXPECT_EQ(in_data_queue(m), queue == Queue::kData);
      heard[in_data_queue(m)].push_back(test::leaves_of(m));
    }
  }
  for (size_t q = 0; q < kQueues; ++q) EXPECT_EQ(said[q], heard[q]);
  EXPECT_LT(e.sink.sent.size(), 5000u / 8);
  EXPECT_EQ(e.b.counters().opened, e.sink.sent.size());
  EXPECT_EQ(e.a.counters().sealed, e.sink.sent.size());
}

TEST(WorkerChannel, DataIsFlushedApartFromControl) {
  Ends e;
  e.a.send(FlowClosed{FlowId{1}}, e.sink);
  e.a.send(CloseMarker{FlowId{2}}, e.sink);
  EXPECT_TRUE(e.sink.sent.empty());
  e.a.flush_data(e.sink);
  ASSERT_EQ(e.sink.sent.size(), 1u);
  EXPECT_EQ(e.sink.sent[0].first, Queue::kData);
  e.a.flush(e.sink);
  ASSERT_EQ(e.sink.sent.size(), 2u);
  EXPECT_EQ(e.sink.sent[1].first, Queue::kControl);
  e.a.flush(e.sink);
  EXPECT_EQ(e.sink.sent.size(), 2u);  // nothing is not sent
}

TEST(WorkerChannel, EveryBitFlipAndCutIsCountedAndChangesNothing) {
  Ends e;
  e.a.send(FlowClosed{FlowId{1}}, e.sink);
  e.a.flush(e.sink);
  const Buffer whole = e.sink.sent[0].second;
  const auto refused = [&](Bytes d) {
    ChannelCounters before = e.b.counters();
    e.b.receive(d, e.got);
    const ChannelCounters& n = e.b.counters();
    const uint64_t counted = n.truncated + n.foreign + n.stale_session + n.bad_seal - before.truncated -
                             before.foreign - before.stale_session - before.bad_seal;
    return counted == 1 && n.opened == before.opened && e.got.empty();
  };
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    Buffer d = whole;
    d[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    EXPECT_TRUE(refused(d)) << bit;
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_TRUE(refused(Buffer(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)))) << size;
  }
  Buffer longer = whole;
  longer.push_back(0);
  EXPECT_TRUE(refused(longer));
  longer.resize(kMaxDatagramBytes + 1);
  EXPECT_TRUE(refused(longer));
  EXPECT_FALSE(refused(whole));  // it was good all the time
  EXPECT_EQ(e.got.size(), 1u);
  e.b.receive(whole, e.got);
  EXPECT_EQ(e.b.counters().replayed, 1u);
  EXPECT_EQ(e.got.size(), 1u);
}

TEST(WorkerChannel, WhatAPeerShouldNotHaveSealedIsCounted) {
  struct Case {
    Queue queue;
    Buffer payload;
    void (*expect)(const ChannelCounters&);
  };
  const Case cases[] = {
      {Queue::kControl, {0xee, 0, 0}, [](const ChannelCounters& n) { EXPECT_EQ(n.messages.unknown_type, 1u); }},
      {Queue::kControl, {8, 0, 1, 1}, [](const ChannelCounters& n) { EXPECT_EQ(n.messages.malformed, 1u); }},
      {Queue::kControl, {8, 0, 9}, [](const ChannelCounters& n) { EXPECT_EQ(n.broken_framing, 1u); }},
      {Queue::kData, {8, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1}, [](const ChannelCounters& n) {
         EXPECT_EQ(n.wrong_queue, 1u);
       }}};
  for (const Case& c : cases) {
    Ends e;
    e.b.receive(e.forged_by_peer(c.queue, c.payload), e.got);
    EXPECT_TRUE(e.got.empty());
    EXPECT_EQ(e.b.counters().opened, 1u);
    c.expect(e.b.counters());
  }
}

TEST(WorkerChannel, OpensOldAndNewSealsNewAndKeepsItsCounters) {
  Ends e;
  e.a.send(FlowClosed{FlowId{1}}, e.sink);
  e.a.flush(e.sink);
  test::SeededEntropy entropy(2);
  const RandomPair next{entropy.nonce32(), entropy.nonce32()};
  const SessionKeys next_a(test::psk(1), next), next_b(test::psk(1), next.mirrored());
  e.b.update({2, next_b, {next_b, *e.keys_b}});
  e.b.receive(e.sink.sent[0].second, e.got);
  e.b.receive(e.sink.sent[0].second, e.got);
  EXPECT_EQ(e.b.counters().replayed, 1u);
  e.b.update({3, next_b, {next_b, *e.keys_b}});
  e.b.receive(e.sink.sent[0].second, e.got);
  EXPECT_EQ(e.b.counters().replayed, 2u);  // the window went through the update
  EXPECT_EQ(e.got.size(), 1u);
  const auto tag_and_counter = [&] {
    e.sink.sent.clear();
    e.a.send(FlowClosed{FlowId{1}}, e.sink);
    e.a.flush(e.sink);
    const SessionHeader h = *SessionHeader::read(e.sink.sent.at(0).second);
    return std::pair(h.session_tag, h.counter);
  };
  e.a.update({2, *e.keys_a, {*e.keys_a, next_a}});
  EXPECT_EQ(tag_and_counter(), std::pair(e.keys_a->tag(), uint64_t{1}));
  e.a.update({3, next_a, {next_a}});
  EXPECT_EQ(tag_and_counter(), std::pair(next_a.tag(), uint64_t{0}));
  e.a.update({2, *e.keys_a, {*e.keys_a}});  // came late: it would start an old counter again
  EXPECT_EQ(tag_and_counter(), std::pair(next_a.tag(), uint64_t{1}));
}

TEST(WorkerChannel, GivesUpWhatCannotBeSent) {
  Ends e;
  e.a.send(FlowBase{FlowId{1}, -1, false, false}, e.sink);
  EXPECT_EQ(e.a.counters().unencodable, 1u);
  e.a.send(FlowClosed{FlowId{1}}, e.sink);
  e.a.update({2, {}, {}});
  EXPECT_FALSE(e.a.up());
  e.a.send(FlowClosed{FlowId{1}}, e.sink);
  e.a.flush(e.sink);
  EXPECT_EQ(e.a.counters().no_session, 1u);
  EXPECT_EQ(e.a.counters().unsealed, 1u);
  EXPECT_TRUE(e.sink.sent.empty());
}

}  // namespace
}  // namespace matchrdma
