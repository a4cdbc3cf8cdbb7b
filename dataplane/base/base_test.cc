// The small tools of the core: rings, deadlines, buckets, random numbers, unwrapped sequence numbers.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "dataplane/base/deadline_queue.h"
#include "dataplane/base/intrusive_fifo.h"
#include "dataplane/base/pooled_ring.h"
#include "dataplane/base/prng.h"
#include "dataplane/base/token_bucket.h"
#include "dataplane/base/types.h"

namespace matchrdma {
namespace {

TEST(Unwrap24, NearestValueOnBothSides) {
  constexpr Seq kEpoch = Seq{1} << 32;
  EXPECT_EQ(unwrap24(5, kEpoch), kEpoch + 5);
  EXPECT_EQ(unwrap24(0xffffff, kEpoch), kEpoch - 1);
  EXPECT_EQ(unwrap24(0, kEpoch + 0xffffff), kEpoch + 0x1000000);
  EXPECT_EQ(unwrap24(0x7fffff, kEpoch), kEpoch + 0x7fffff);
  EXPECT_EQ(unwrap24(0x800000, kEpoch), kEpoch - 0x800000);  // the tie goes down
  EXPECT_EQ(wire_psn(kEpoch - 1).v, 0xffffffu);
}

TEST(Prng, KnownNumbersAndBounds) {
  Prng a(7), b(7), c(8);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
  EXPECT_NE(a.next(), c.next());
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LT(a.below(3), 3u);
    const int64_t v = a.between(-2, 2);
    EXPECT_TRUE(v >= -2 && v <= 2);
    const double u = a.unit();
    EXPECT_TRUE(u >= 0 && u < 1);
  }
  EXPECT_FALSE(a.chance(0));
  EXPECT_TRUE(a.chance(1));
}

TEST(TokenBucket, OpensWhenItsDebtIsPaid) {
  const Instant start{1000};
  TokenBucket t(Rate{8'000'000'000}, 100, start);  // a byte each nanosecond
  EXPECT_TRUE(t.open());
  t.charge(300);
  EXPECT_FALSE(t.open());
  const Instant opens = t.opens_at();
  EXPECT_EQ(opens, start + Duration::nanos(201));
  t.refill(opens - Duration::nanos(1));
  EXPECT_FALSE(t.open());
  t.refill(opens);
  EXPECT_TRUE(t.open());
}

TEST(TokenBucket, NeverHoldsMoreThanItsBurst) {
  TokenBucket t(Rate{8'000'000'000}, 100, Instant{});
  t.refill(Instant{} + Duration::seconds(3600));
  t.charge(100);
  EXPECT_FALSE(t.open());
  TokenBucket stopped(Rate{0}, 100, Instant{});
  stopped.charge(100);
  EXPECT_TRUE(stopped.opens_at().is_never());
  stopped.set_rate(Rate{8'000'000'000}, Instant{});
  EXPECT_FALSE(stopped.opens_at().is_never());
}

// A rate times a time that do not fit in 64 bits.
TEST(TokenBucket, IsFullAfterYears) {
  TokenBucket t(Rate{10'000'000'000'000}, 1 << 30, Instant{});
  t.charge(1 << 30);
  EXPECT_FALSE(t.open());
  t.refill(Instant{} + Duration::seconds(int64_t{10} * 365 * 86400));
  t.charge((1 << 30) - 1);
  EXPECT_TRUE(t.open());
  t.charge(1);
  EXPECT_FALSE(t.open());
}

// `steps` of owners that set and remove deadlines up to `ahead` ns from a time that goes on by up to `stride`.
void agrees_with_a_sorted_map(uint64_t seed, uint32_t owners, int64_t ahead, int64_t stride, int steps) {
  DeadlineQueue queue(owners);
  std::map<uint32_t, int64_t> expected;
  std::set<std::pair<int64_t, uint32_t>> order;  // ties: the lowest owner
  Prng r(seed);
  int64_t now = r.chance(0.5) ? 0 : 1'000'000'000'000'000;
  const auto set = [&](uint32_t owner, Instant at) {
    queue.set(owner, at);
    if (const auto old = expected.find(owner); old != expected.end()) order.erase({old->second, owner});
    expected.erase(owner);
    if (at.is_never()) return;
    expected[owner] = at.ns;
    order.emplace(at.ns, owner);
  };
  for (int step = 0; step < steps; ++step) {
    const auto owner = static_cast<uint32_t>(r.below(owners));
    set(owner, r.chance(0.2) ? Instant::never() : Instant{now + r.between(0, ahead)});
    if (stride > 0) {
      now += r.between(0, stride);
      while (!order.empty() && order.begin()->first <= now) {
        ASSERT_EQ(queue.earliest(), Instant{order.begin()->first});
        ASSERT_EQ(queue.earliest_owner(), order.begin()->second);
        set(order.begin()->second, r.chance(0.5) ? Instant::never() : Instant{now + r.between(1, ahead)});
      }
    }
    ASSERT_EQ(queue.earliest(), order.empty() ? Instant::never() : Instant{order.begin()->first});
    if (!order.empty()) {
      ASSERT_EQ(queue.earliest_owner(), order.begin()->second);
    }
  }
}

TEST(DeadlineQueue, AgreesWithASortedMap) {
  agrees_with_a_sorted_map(3, 50, 20, 0, 5000);
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Prng r(seed);
    const int64_t ahead = int64_t{1} << r.between(4, 46);  // up to 20 hours
    agrees_with_a_sorted_map(seed, static_cast<uint32_t>(r.between(1, 5000)), ahead, ahead / r.between(2, 4000),
                             4000);
  }
}

TEST(PooledRing, KeepsIndexesOverPushAndPop) {
  ChunkPool<int> pool(700, 2);
  PooledRing<int> ring(pool);
  uint64_t head = 0, tail = 0;
  Prng r(5);
  for (int step = 0; step < 20000; ++step) {
    if (tail - head < 700 && r.chance(0.52)) {
      ASSERT_TRUE(ring.push_back(static_cast<int>(tail)));
      ++tail;
    } else if (tail > head && r.chance(0.8)) {
      ASSERT_EQ(ring.front(), static_cast<int>(head));
      ring.pop_front();
      ++head;
    } else if (tail > head) {
      ring.pop_back();
      --tail;
    }
    ASSERT_EQ(ring.begin(), head);
    ASSERT_EQ(ring.end(), tail);
    if (tail == head) continue;
    ASSERT_EQ(ring[tail - 1], static_cast<int>(tail - 1));
  }
}

TEST(PooledRing, FullPoolChangesNothingAndComesBack) {
  ChunkPool<int> pool(ChunkPool<int>::kChunk, 2);
  PooledRing<int> a(pool), b(pool);
  for (uint32_t i = 0; i < ChunkPool<int>::kChunk; ++i) ASSERT_TRUE(a.push_back(int{1}));
  EXPECT_FALSE(a.push_back(int{2}));
  EXPECT_FALSE(b.push_back(int{3}));
  EXPECT_EQ(a.size(), ChunkPool<int>::kChunk);
  EXPECT_TRUE(b.empty());
  a.clear();
  EXPECT_TRUE(b.push_back(int{3}));
}

TEST(PooledRing, ElementsLiveFromPushToPop) {
  const auto lives = std::make_shared<int>(0);
  using Element = std::shared_ptr<int>;
  ChunkPool<Element> pool(300, 3);
  {
    PooledRing<Element> ring(pool);
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(ring.push_back(Element(lives)));
    EXPECT_EQ(lives.use_count(), 201);
    for (int i = 0; i < 70; ++i) ring.pop_front();
    for (int i = 0; i < 70; ++i) ring.pop_back();
    EXPECT_EQ(lives.use_count(), 61);
    ASSERT_NE(ring.extend(lives), nullptr);
    EXPECT_EQ(ring.back(), lives);
    EXPECT_EQ(lives.use_count(), 62);
  }
  EXPECT_EQ(lives.use_count(), 1);
}

TEST(PooledRing, WhatFindsNoRoomIsLeftAsItWas) {
  ChunkPool<std::unique_ptr<int>> pool(1, 1);
  PooledRing<std::unique_ptr<int>> ring(pool);
  ASSERT_TRUE(ring.push_back(std::make_unique<int>(1)));
  auto more = std::make_unique<int>(2);
  EXPECT_FALSE(ring.push_back(std::move(more)));
  EXPECT_NE(more, nullptr);
}

struct Link {
  int name = 0;
  Link* next = nullptr;
};

TEST(IntrusiveFifo, KeepsOrderWhateverIsTakenOut) {
  for (int out = 0; out < 4; ++out) {
    std::array<Link, 3> links{Link{0}, Link{1}, Link{2}};
    Link stranger{3};
    IntrusiveFifo<Link, &Link::next> q;
    for (Link& l : links) q.push(l);
    EXPECT_EQ(q.remove(out < 3 ? links[static_cast<size_t>(out)] : stranger), out < 3);
    q.push(stranger);  // the tail must be right whichever end was taken out
    for (int name = 0; name < 4; ++name) {
      if (name == out && out < 3) continue;
      ASSERT_FALSE(q.empty());
      EXPECT_EQ(q.pop().name, name);
    }
    EXPECT_TRUE(q.empty());
  }
}

}  // namespace
}  // namespace matchrdma
