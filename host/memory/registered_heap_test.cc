#include "host/memory/registered_heap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

#include "dataplane/base/prng.h"
#include "host/memory/private_jemalloc.h"
#include "host/memory/size_class.h"
#include "host/memory/test_registrar.h"

namespace matchrdma::host {
namespace {

std::unique_ptr<RegisteredHeap> make(test::TestRegistrar& registrar, size_t limit, unsigned arenas = 2) {
  auto heap = RegisteredHeap::create(registrar, {limit, arenas});
  EXPECT_TRUE(heap.ok());
  return std::move(*heap);
}

uintptr_t number(const void* p) { return reinterpret_cast<uintptr_t>(p); }

TEST(SizeClass, IsJemallocsOwn) {
  for (size_t size = 1; size <= kLastClassSize; size += size < 70000 ? 1 : 509) {
    const uint8_t c = size_class(size);
    ASSERT_EQ(class_size(c), std::max(mrdma_je_nallocx(size, 0), kSmallest)) << size;
    ASSERT_EQ(size_class(class_size(c)), c);
  }
  EXPECT_EQ(size_class(kLastClassSize), kLastClass);
  EXPECT_EQ(size_class(kLastClassSize + 1), kBeyond);
}

TEST(RegisteredHeap, RegistersNothingBeforeItIsAsked) {
  test::TestRegistrar registrar;
  const auto heap = make(registrar, 16 * kChunk);
  EXPECT_EQ(registrar.added(), 0u);  // jemalloc's own bookkeeping is no peer's to write to
  void* p = heap->allocate(100);
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(registrar.added(), 1u);
  EXPECT_EQ(heap->stats().registered, kChunk);
  heap->free(p);
}

// Every byte of every allocation lies in exactly one live region, the one that find() names, and nowhere in
// another allocation. Sizes from 1 byte to several chunks, at random alignments.
TEST(RegisteredHeap, EveryAllocationLiesWholeInOneRegion) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Prng random(seed);
    test::TestRegistrar registrar;
    auto heap = make(registrar, 24 * kChunk, 1 + static_cast<unsigned>(seed % 3));
    std::map<uintptr_t, size_t> out;
    size_t refused = 0;
    for (int step = 0; step < 6000; ++step) {
      if (out.empty() || random.chance(0.52)) {
        const size_t size = 1 + random.below(size_t{1} << (4 + random.below(random.chance(0.02) ? 21 : 16)));
        const size_t alignment = random.chance(0.3) ? size_t{1} << random.below(15) : 1;
        void* p = alignment == 1 ? heap->allocate(size) : heap->allocate_aligned(size, alignment);
        if (p == nullptr) {
          ++refused;
          continue;
        }
        const uintptr_t begin = number(p);
        ASSERT_EQ(begin % std::max(alignment, size_t{16}), 0u);
        const Registration* r = heap->find(p, size);
        ASSERT_NE(r, nullptr);
        ASSERT_TRUE(r->host_readable);
        ASSERT_GE(heap->usable_size(p), size);
        ASSERT_EQ(registrar.holding(begin), (std::pair{1, r->region.lkey}));
        ASSERT_EQ(registrar.holding(begin + heap->usable_size(p) - 1), (std::pair{1, r->region.lkey}));
        const auto next = out.lower_bound(begin);
        ASSERT_TRUE(next == out.end() || next->first >= begin + size);
        ASSERT_TRUE(next == out.begin() || std::prev(next)->first + std::prev(next)->second <= begin);
        std::memset(p, 0xa5, size);
        out.emplace(begin, size);
      } else {
        auto victim = out.begin();
        std::advance(victim, static_cast<ptrdiff_t>(random.below(out.size())));
        heap->free(reinterpret_cast<void*>(victim->first));  // NOLINT
        out.erase(victim);
      }
      ASSERT_LE(heap->stats().registered, 24 * kChunk);
    }
    EXPECT_LT(refused, 2000u) << "seed " << seed;
    for (const auto& [begin, size] : out) heap->free(reinterpret_cast<void*>(begin));  // NOLINT
    EXPECT_EQ(heap->stats().in_use, 0u);
    heap->trim();
    EXPECT_EQ(registrar.live(), 0u) << "seed " << seed;
    EXPECT_EQ(heap->stats().chunks, 0u);
    heap.reset();
    EXPECT_EQ(registrar.removed(), registrar.added());
  }
}

TEST(RegisteredHeap, GivesAllRegionsBackWhateverIsStillOut) {
  test::TestRegistrar registrar;
  {
    const auto heap = make(registrar, 32 * kChunk);
    for (const size_t size : {16u, 3000u, 60000u, 900000u, 9000000u}) ASSERT_NE(heap->allocate(size), nullptr);
    static int external = 0;
    ASSERT_TRUE(heap->register_external(&external, sizeof external, HostAccess::kReadable).ok());
    EXPECT_GE(registrar.live(), 3u);
  }
  EXPECT_EQ(registrar.live(), 0u);
}

TEST(RegisteredHeap, BigBuffersGetChunksInOnePiece) {
  test::TestRegistrar registrar;
  const auto heap = make(registrar, 64 * kChunk);
  void* chunk = heap->allocate(kChunk);
  EXPECT_EQ(heap->stats().chunks, 1u);  // a 4 MiB buffer is one chunk, not one and a page
  EXPECT_EQ(number(chunk) % kChunk, 0u);
  void* big = heap->allocate(5 * kChunk);
  const Registration* r = heap->find(big, 5 * kChunk);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->length, 5 * kChunk);
  EXPECT_EQ(registrar.live(), 2u);
  std::memset(big, 1, 5 * kChunk);
  heap->free(big);
  heap->free(chunk);
  // Kept for the next one, which is smaller and larger in turn; given back when asked to.
  EXPECT_EQ(registrar.live(), 2u);
  void* again = heap->allocate(5 * kChunk);
  EXPECT_EQ(again, big);
  heap->free(again);
  heap->trim();
  EXPECT_EQ(registrar.live(), 0u);
}

TEST(RegisteredHeap, Alignment) {
  test::TestRegistrar registrar;
  const auto heap = make(registrar, 64 * kChunk);
  for (size_t alignment = 1; alignment <= 2 * kChunk; alignment *= 2) {
    for (const size_t size : {size_t{1}, size_t{100}, size_t{5000}, size_t{70000}, 5 * kChunk / 4}) {
      void* p = heap->allocate_aligned(size, alignment);
      ASSERT_NE(p, nullptr) << size << " at " << alignment << ": " << heap->failure();
      EXPECT_EQ(number(p) % alignment, 0u);
      EXPECT_NE(heap->find(p, heap->usable_size(p)), nullptr);
      heap->free(p);
    }
  }
  EXPECT_EQ(heap->stats().in_use, 0u);
  EXPECT_EQ(number(heap->allocate(16384)) % 4096, 0u);
}

TEST(RegisteredHeap, ExhaustionIsASentenceAndFreeingHelps) {
  test::TestRegistrar registrar;
  const auto heap = make(registrar, 4 * kChunk, 1);
  std::vector<void*> out;
  for (void* p; (p = heap->allocate(kChunk / 4)) != nullptr;) out.push_back(p);
  EXPECT_EQ(out.size(), 16u);
  EXPECT_EQ(heap->stats().registered, 4 * kChunk);
  EXPECT_EQ(
      heap->failure(),
      "the registered heap cannot grow by 4194304 bytes: 16777216 of the 16777216 it may register are in use; "
      "free buffers, or raise its limit (and `ulimit -l`)");
  for (void* p : out) heap->free(p);
  // All four chunks are registered and free, but apart: they are given back for one region of four.
  void* big = heap->allocate(4 * kChunk);
  EXPECT_NE(big, nullptr) << heap->failure();
  EXPECT_EQ(heap->stats().regions, 1u);
  heap->free(big);
  EXPECT_NE(heap->allocate(64), nullptr);
}

TEST(RegisteredHeap, WhatIsLargerThanTheLimitIsRefused) {
  test::TestRegistrar registrar;
  const auto heap = make(registrar, 2 * kChunk);
  for (const size_t size : {3 * kChunk, size_t{1} << 50, ~size_t{0}, ~size_t{0} - 4095}) {
    EXPECT_EQ(heap->allocate(size), nullptr);
    EXPECT_NE(heap->failure().find("cannot grow"), std::string::npos);
  }
  EXPECT_EQ(heap->allocate_aligned(1, size_t{1} << 40), nullptr);
  EXPECT_EQ(registrar.added(), 0u);
}

TEST(RegisteredHeap, ARefusedRegistrationFailsTheAllocationOnly) {
  test::TestRegistrar registrar;
  const auto heap = make(registrar, 16 * kChunk);
  registrar.refuse(true);
  for (const size_t size : {64u, 20000u, 9000000u}) EXPECT_EQ(heap->allocate(size), nullptr);
  EXPECT_NE(heap->failure().find("the test device is full"), std::string::npos);
  EXPECT_EQ(heap->stats().registered, 0u);
  EXPECT_EQ(heap->stats().in_use, 0u);
  registrar.refuse(false);
  for (const size_t size : {64u, 20000u, 9000000u}) EXPECT_NE(heap->allocate(size), nullptr);
}

TEST(RegisteredHeap, ExternalBuffersAreFoundBesideTheHeap) {
  test::TestRegistrar registrar;
  const auto heap = make(registrar, 16 * kChunk);
  void* p = heap->allocate(1000);
  std::vector<char> own(5000);
  const auto external = heap->register_external(own.data(), own.size(), HostAccess::kReadable);
  ASSERT_TRUE(external.ok());
  EXPECT_EQ(heap->find(own.data() + 4999), *external);
  EXPECT_EQ(heap->find(own.data() + 4999, 2), nullptr);
  EXPECT_EQ(heap->stats().registered, kChunk + 5000);
  EXPECT_FALSE(heap->register_external(p, 10, HostAccess::kReadable).ok());
  // Also where the heap is empty yet, and from outside into it.
  const Registration* chunk = heap->find(p);
  auto* before = reinterpret_cast<char*>(chunk->begin) - 100;  // NOLINT
  EXPECT_FALSE(heap->register_external(before, 101, HostAccess::kNone).ok());
  EXPECT_FALSE(heap->register_external(Dmabuf{3, 0, chunk->begin + 4 * kChunk, 1}).ok());
  EXPECT_TRUE(heap->unregister_external(own.data()).ok());
  EXPECT_EQ(heap->find(own.data()), nullptr);
  EXPECT_EQ(heap->find(nullptr), nullptr);
}

TEST(RegisteredHeapDeathTest, WrongFreesStopTheProgram) {
  test::TestRegistrar registrar;
  const auto heap = make(registrar, 16 * kChunk);
  const auto other = make(registrar, 16 * kChunk);
  for (const size_t size : {64u, 100u, 5000u, 100000u, 9000000u}) {
    auto* p = static_cast<char*>(heap->allocate(size));
    int local = 0;
    EXPECT_DEATH(heap->free(p + 16), "freed twice, or a pointer into one");
    EXPECT_DEATH(heap->free(p + 1), "freed twice, or a pointer into one");
    EXPECT_DEATH(heap->free(&local), "not allocated by this registered heap");
    EXPECT_DEATH(other->free(p), "not allocated by this registered heap");
    heap->free(p);
    EXPECT_DEATH(heap->free(p), "freed twice, or a pointer into one");
  }
  heap->free(nullptr);
}

}  // namespace
}  // namespace matchrdma::host
