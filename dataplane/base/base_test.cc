// The small tools of the core: rings, deadlines, buckets, random numbers, unwrapped sequence numbers.
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "dataplane/base/deadline_heap.h"
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

TEST(DeadlineHeap, AgreesWithASortedMap) {
  constexpr uint32_t kOwners = 50;
  DeadlineHeap heap(kOwners);
  std::map<uint32_t, int64_t> expected;
  Prng r(3);
  for (int step = 0; step < 5000; ++step) {
    const uint32_t owner = static_cast<uint32_t>(r.below(kOwners));
    if (r.chance(0.3)) {
      heap.set(owner, Instant::never());
      expected.erase(owner);
    } else {
      const int64_t at = r.between(0, 20);
      heap.set(owner, Instant{at});
      expected[owner] = at;
    }
    Instant first = Instant::never();
    uint32_t who = 0;
    for (const auto& [o, at] : expected) {
      if (Instant{at} < first) first = Instant{at}, who = o;  // ties: the lowest owner
    }
    ASSERT_EQ(heap.earliest(), first);
    if (first.is_never()) continue;
    ASSERT_EQ(heap.earliest_owner(), who);
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
