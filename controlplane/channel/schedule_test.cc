// Random schedules over two proxies: restarts in every order, a bad path, recorded datagrams, keys that change
// (C11).
#include <gtest/gtest.h>

#include "controlplane/channel/test_proxy.h"

namespace matchrdma {
namespace {

using test::Buffer;
using test::NonceLog;
using test::Pair;
using test::PathFaults;
using test::Proxy;
using test::psk;

Message numbered(uint64_t n) { return FlowClosed{FlowId{n}}; }

/// One side's reliable traffic: every number is sent again until the other side has it.
class Sender {
 public:
  Sender(Proxy& from, Proxy& to) : from_(&from), to_(&to) {}
  void say_new() { open_.insert(next_++); }
  void repeat() {
    for (const Message& m : std::exchange(to_->got, {})) open_.erase(std::get<FlowClosed>(m).id.v);
    for (uint64_t n : open_) from_->say(numbered(n));
  }
  bool done() const { return open_.empty(); }

 private:
  Proxy *from_, *to_;
  std::set<uint64_t> open_;
  uint64_t next_ = 1;
};

struct Traffic {
  explicit Traffic(Pair& p) : a(p.a, p.b), b(p.b, p.a) {}
  void step(Pair& p) {
    if (p.random.chance(0.2)) a.say_new(), b.say_new();
    if (p.now.ns % Duration::millis(20).ns == 0) a.repeat(), b.repeat();
    p.step();
  }
  Sender a, b;
};

PathFaults random_faults(Prng& r) { return {r.unit() * 0.4, r.unit() * 0.4, r.unit() * 0.5}; }

TEST(Schedule, NoNonceComesTwiceOverRestartsInEveryOrder) {
  NonceLog log;  // one for all: distinct schedules must not meet either
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    Pair p(seed, &log);
    p.faults = random_faults(p.random);
    for (int t = 0; t < 250; ++t) {
      if (p.random.chance(0.02)) p.a.restart(p.now);
      if (p.random.chance(0.02)) p.b.restart(p.now);
      if (p.random.chance(0.02)) p.a.session->renew(p.now);
      if (p.random.chance(0.1)) p.a.say(numbered(1));
      if (p.random.chance(0.1)) p.b.say(numbered(2));
      p.step();
    }
  }
  EXPECT_GT(log.size(), 5000u);
}

TEST(Schedule, BothReachTheSameSessionAndAllReliableTrafficOverABadPath) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Pair p(seed);
    p.faults = random_faults(p.random);
    Traffic traffic(p);
    for (int t = 0; t < 600; ++t) {
      if (p.random.chance(0.003)) p.a.restart(p.now);
      if (p.random.chance(0.003)) p.b.restart(p.now);
      if (p.random.chance(0.003)) p.b.session->renew(p.now);
      traffic.step(p);
    }
    for (int t = 0; t < 8000 && !(p.joined() && traffic.a.done() && traffic.b.done()); ++t) {
      if (p.now.ns % Duration::millis(20).ns == 0) traffic.a.repeat(), traffic.b.repeat();
      p.step();
    }
    ASSERT_TRUE(p.joined()) << "seed " << seed;
    ASSERT_TRUE(traffic.a.done() && traffic.b.done()) << "seed " << seed;
  }
}

TEST(Schedule, OnAGoodPathARestartIsOverInThreeRoundTrips) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Pair p(seed);
    for (int restarts = 0; restarts < 20; ++restarts) {
      (p.random.chance(0.5) ? p.a : p.b).restart(p.now);
      if (p.random.chance(0.3)) p.a.restart(p.now);
      p.run(Duration::millis(31));
      ASSERT_TRUE(p.joined()) << "seed " << seed;
      p.run(Duration::millis(p.random.between(0, 50)));
    }
  }
}

TEST(Schedule, WhatWasRecordedChangesNothing) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Pair p(seed);
    for (int life = 0; life < 5; ++life) {
      p.run(Duration::millis(60));
      for (uint64_t n = 0; n < 5; ++n) p.a.say(numbered(n)), p.b.say(numbered(n));
      p.run(Duration::millis(60));
      (p.random.chance(0.5) ? p.a : p.b).restart(p.now);
    }
    p.run(Duration::seconds(3));
    ASSERT_TRUE(p.joined());
    p.a.say(numbered(9));
    p.run(Duration::millis(10));
    std::vector<Buffer> recorded = p.to_b;
    const uint64_t number = p.b.session->session().number, number_a = p.a.session->session().number;
    const size_t got = p.b.got.size(), events = p.b.out.events.size();
    ChannelCounters before = p.b.channel->counters();
    for (size_t i = recorded.size(); i > 1; --i) std::swap(recorded[i - 1], recorded[p.random.below(i)]);
    size_t sealed = 0;
    for (const Buffer& d : recorded) {
      sealed += !is_hello(d);
      p.b.receive(d, p.now);
    }
    EXPECT_EQ(p.b.got.size(), got);
    EXPECT_EQ(p.b.out.events.size(), events);
    EXPECT_EQ(p.b.session->session().number, number);
    const ChannelCounters& n = p.b.channel->counters();
    EXPECT_EQ(n.replayed + n.stale_session - before.replayed - before.stale_session, sealed);
    EXPECT_GE(n.replayed - before.replayed, 1u);
    p.run(Duration::seconds(3));  // nor do the answers it drew
    EXPECT_TRUE(p.joined());
    EXPECT_EQ(p.b.out.events.size(), events);
    EXPECT_EQ(p.a.session->session().number, number_a);
  }
}

/// An operator changes the key on one side at times of his own: loads the new one, unloads the old one when the
/// peer has left it and what it sealed last has arrived.
class Rotation {
 public:
  Rotation(Proxy& at, Prng& r, Instant now) : at_(&at), load_(now + Duration::millis(r.between(1, 400))) {}
  void step(uint32_t from, Instant now) {
    if (loaded_.is_never() && now >= load_) {
      at_->set_keys({psk(from), psk(from + 1)}, now);
      loaded_ = now;
    }
    const KeyId next{from + 1};
    const bool left = !loaded_.is_never() && at_->session->peer_seals_under() == next && at_->key() == next;
    if (!left || done) return;
    if (left_.is_never()) left_ = now;
    if (now < left_ + Duration::millis(100)) return;
    at_->set_keys({psk(from + 1)}, now);
    done = true;
  }
  bool done = false;

 private:
  Proxy* at_;
  Instant load_, loaded_ = Instant::never(), left_ = Instant::never();
};

TEST(Schedule, KeysChangeUnderTrafficWithoutAGap) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    NonceLog log;
    Pair p(seed, &log);
    p.run(Duration::millis(100));
    ASSERT_TRUE(p.joined());
    uint64_t said = 0;
    for (uint32_t key = 1; key <= 3; ++key) {
      Rotation a(p.a, p.random, p.now), b(p.b, p.random, p.now);
      for (int t = 0; t < 5000 && !(a.done && b.done); ++t) {
        p.a.say(numbered(said));
        p.b.say(numbered(said));
        ++said;
        a.step(key, p.now);
        b.step(key, p.now);
        p.step();
      }
      ASSERT_TRUE(a.done && b.done) << "seed " << seed << " key " << key;
    }
    p.run(Duration::millis(20));
    EXPECT_EQ(p.a.got.size(), said) << "seed " << seed;  // every single one, no repetition needed
    EXPECT_EQ(p.b.got.size(), said) << "seed " << seed;
    EXPECT_EQ(p.a.key(), KeyId{4});
    EXPECT_TRUE(p.joined());
    EXPECT_EQ(p.a.all<SessionUp>().size(), 1u);  // one session for all keys: nobody seems to have restarted
  }
}

TEST(Schedule, KeysComeAndGoInAnyOrderAndNoNonceComesTwice) {
  static const std::vector<KeyRing> kRings = {{psk(1)}, {psk(1), psk(2)}, {psk(2)}, {psk(2), psk(1)}};
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    NonceLog log;
    Pair p(seed, &log);
    p.faults = random_faults(p.random);
    size_t ring_a = 0, ring_b = 0;
    const auto change = [&](Proxy& x, size_t& ring, size_t next) {
      const bool reordered =
          ring + next == 4 && ring != next;  // 1,2 to 2,1: refused, loaded keys keep their place
      if (reordered) return;
      ring = next;
      x.set_keys(kRings[next], p.now);
    };
    for (int t = 0; t < 600; ++t) {
      if (p.random.chance(0.02)) change(p.a, ring_a, p.random.below(4));
      if (p.random.chance(0.02)) change(p.b, ring_b, p.random.below(4));
      if (p.random.chance(0.005)) p.b.restart(p.now);
      if (p.random.chance(0.3)) p.a.say(numbered(1));
      if (p.random.chance(0.3)) p.b.say(numbered(2));
      p.step();
    }
    change(p.a, ring_a, 2);
    change(p.b, ring_b, 2);
    p.faults = {};
    p.run(Duration::seconds(3));
    ASSERT_TRUE(p.joined()) << "seed " << seed;
    EXPECT_EQ(p.a.key(), KeyId{2});
    // Both can be heard again, whatever happened before.
    p.a.got.clear();
    p.b.got.clear();
    p.a.say(numbered(1));
    p.b.say(numbered(2));
    p.run(Duration::millis(10));
    EXPECT_EQ(p.a.got.size(), 1u) << "seed " << seed;
    EXPECT_EQ(p.b.got.size(), 1u) << "seed " << seed;
  }
}

TEST(Schedule, AKeyThatComesBackBringsNoRecordedDatagramBack) {
  Pair p(1);
  p.run(Duration::millis(100));
  for (uint64_t n = 0; n < 10; ++n) p.a.say(numbered(n));
  p.run(Duration::millis(20));
  const std::vector<Buffer> recorded = p.to_b;
  ASSERT_EQ(p.b.got.size(), 10u);
  p.b.set_keys({psk(1), psk(2)}, p.now);
  p.b.set_keys({psk(2)}, p.now);
  p.b.set_keys({psk(2), psk(1)}, p.now);
  for (const Buffer& d : recorded) p.b.receive(d, p.now);
  EXPECT_EQ(p.b.got.size(), 10u);
  p.run(Duration::millis(50));
  EXPECT_TRUE(p.joined());
}

}  // namespace
}  // namespace matchrdma
