#include "host/memory/chunk_store.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "dataplane/base/prng.h"
#include "host/memory/test_registrar.h"

namespace matchrdma::host {
namespace {

constexpr size_t kPage = 4096;

struct Stored {
  explicit Stored(size_t limit) : budget(limit) {
    auto made = ChunkStore::create(registrar, budget);
    EXPECT_TRUE(made.ok());
    store = std::move(*made);
  }
  test::TestRegistrar registrar;
  Budget budget;
  std::unique_ptr<ChunkStore> store;
};

uintptr_t number(const void* p) { return reinterpret_cast<uintptr_t>(p); }

TEST(ChunkStore, ChunksAreAlignedAndRegisteredOneByOne) {
  Stored s(4 * kChunk);
  void* first = s.store->carve(kChunk, kPage);
  void* second = s.store->carve(kChunk, kPage);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(number(first) % kChunk, 0u);
  EXPECT_EQ(s.store->stats().regions, 2u);
  EXPECT_EQ(s.registrar.live(), 2u);
  EXPECT_FALSE(s.store->same_region(first, second));
  s.store->give_back(first, kChunk);
  EXPECT_EQ(s.registrar.live(), 1u);
  EXPECT_EQ(s.store->find(first), nullptr);
  EXPECT_EQ(s.budget.used(), kChunk);
}

TEST(ChunkStore, PiecesOfAChunkMergeWithinItOnlyAndTheWholeIsUnregistered) {
  Stored s(2 * kChunk);
  void* all[4];
  for (void*& p : all) p = s.store->carve(kChunk / 2, kPage);
  ASSERT_EQ(s.registrar.live(), 2u);
  // The inner halves are neighbours in different chunks: they do not become one extent.
  s.store->give_back(all[1], kChunk / 2);
  s.store->give_back(all[2], kChunk / 2);
  EXPECT_EQ(s.store->carve(kChunk, kPage), nullptr);
  EXPECT_EQ(s.registrar.live(), 2u);
  s.store->give_back(all[0], kChunk / 2);
  EXPECT_EQ(s.registrar.live(), 1u);
  s.store->give_back(all[3], kChunk / 2);
  EXPECT_EQ(s.registrar.live(), 0u);
  EXPECT_EQ(s.budget.used(), 0u);
}

TEST(ChunkStore, BigExtentsGetChunksInOnePieceUnderOneRegion) {
  Stored s(8 * kChunk);
  void* big = s.store->carve(2 * kChunk + kPage, kPage);
  ASSERT_NE(big, nullptr);
  EXPECT_EQ(s.registrar.live(), 1u);
  EXPECT_EQ(s.store->stats().chunks, 3u);
  const Registration* r = s.store->find(big);
  ASSERT_NE(r, nullptr);
  EXPECT_TRUE(r->holds(number(big), 2 * kChunk + kPage));
  EXPECT_EQ(s.store->find(static_cast<char*>(big) + 3 * kChunk - 1), r);
  EXPECT_EQ(s.store->find(static_cast<char*>(big) + 3 * kChunk), nullptr);
  // What is left of it serves others.
  void* small = s.store->carve(kPage, kPage);
  EXPECT_EQ(s.store->find(small), r);
  s.store->give_back(big, 2 * kChunk + kPage);
  EXPECT_EQ(s.registrar.live(), 1u);
  s.store->give_back(small, kPage);
  EXPECT_EQ(s.registrar.live(), 0u);
}

TEST(ChunkStore, AlignmentsUpToSeveralChunks) {
  Stored s(16 * kChunk);
  for (const size_t alignment : {kPage, kPage * 16, kChunk / 2, kChunk, kChunk * 4}) {
    ASSERT_NE(s.store->carve(kPage, kPage), nullptr);
    void* p = s.store->carve(3 * kPage, alignment);
    ASSERT_NE(p, nullptr) << alignment;
    EXPECT_EQ(number(p) % alignment, 0u);
  }
}

TEST(ChunkStore, TheLimitIsASentenceAndNothingIsKept) {
  Stored s(2 * kChunk);
  EXPECT_EQ(s.store->carve(3 * kChunk, kPage), nullptr);
  EXPECT_EQ(
      s.store->failure(),
      "the registered heap cannot grow by 12582912 bytes: 0 of the 8388608 it may register are in use; free "
      "buffers, or raise its limit (and `ulimit -l`)");
  EXPECT_EQ(s.budget.used(), 0u);
  EXPECT_EQ(s.store->carve(~size_t{0} - kPage, kPage), nullptr);
  EXPECT_NE(s.store->carve(2 * kChunk, kPage), nullptr);
  EXPECT_EQ(s.store->carve(kPage, kPage), nullptr);
}

TEST(ChunkStore, ARefusedRegistrationLeavesNothingBehind) {
  Stored s(2 * kChunk);
  s.registrar.refuse(true);
  EXPECT_EQ(s.store->carve(kPage, kPage), nullptr);
  EXPECT_EQ(s.store->failure(), "cannot register 4194304 bytes for the heap: the test device is full");
  EXPECT_EQ(s.budget.used(), 0u);
  EXPECT_EQ(s.store->stats().regions, 0u);
  s.registrar.refuse(false);
  EXPECT_NE(s.store->carve(kPage, kPage), nullptr);
}

TEST(ChunkStore, MemoryIsZeroAgainAfterItWasUnregistered) {
  Stored s(kChunk);
  auto* p = static_cast<uint8_t*>(s.store->carve(kPage, kPage));
  std::memset(p, 0xff, kPage);
  s.store->give_back(p, kPage);
  auto* again = static_cast<uint8_t*>(s.store->carve(kPage, kPage));
  ASSERT_EQ(again, p);
  EXPECT_EQ(again[17], 0);
}

TEST(ChunkStore, WhatCannotBeIsRefusedAtCreation) {
  test::TestRegistrar registrar;
  for (const size_t limit : {size_t{0}, kChunk - 1, size_t{1} << 45, ~size_t{0}}) {
    Budget budget(limit);
    const auto made = ChunkStore::create(registrar, budget);
    ASSERT_FALSE(made.ok()) << limit;
    EXPECT_NE(made.error().find("a registered heap"), std::string::npos);
  }
}

TEST(ChunkStoreDeathTest, AnExtentGivenBackTwiceStopsTheProgram) {
  Stored s(kChunk);
  void* kept = s.store->carve(kPage, kPage);
  void* p = s.store->carve(kPage, kPage);
  ASSERT_TRUE(kept && p);
  s.store->give_back(p, kPage);
  EXPECT_DEATH(s.store->give_back(p, kPage), "invariant broken");
}

// Whatever is carved and given back in whatever order: no two extents share a byte, each lies in one region,
// and in the end nothing is registered.
TEST(ChunkStore, RandomExtentsNeverOverlap) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Prng random(seed);
    Stored s(12 * kChunk);
    std::map<uintptr_t, size_t> out;
    for (int step = 0; step < 3000; ++step) {
      if (out.empty() || random.chance(0.55)) {
        const size_t size = kPage * (random.chance(0.05) ? 1 + random.below(3000) : 1 + random.below(100));
        const size_t alignment = kPage << random.below(6);
        void* p = s.store->carve(size, alignment);
        if (p == nullptr) continue;
        const uintptr_t begin = number(p);
        ASSERT_EQ(begin % alignment, 0u);
        const Registration* r = s.store->find(p);
        ASSERT_TRUE(r != nullptr && r->holds(begin, size));
        const auto next = out.lower_bound(begin);
        ASSERT_TRUE(next == out.end() || next->first >= begin + size);
        ASSERT_TRUE(next == out.begin() || std::prev(next)->first + std::prev(next)->second <= begin);
        out.emplace(begin, size);
      } else {
        auto victim = out.begin();
        std::advance(victim, static_cast<ptrdiff_t>(random.below(out.size())));
        s.store->give_back(reinterpret_cast<void*>(victim->first), victim->second);  // NOLINT
        out.erase(victim);
      }
    }
    size_t carved = 0;
    for (const auto& [begin, size] : out) carved += size;
    EXPECT_EQ(s.store->stats().carved, carved);
    for (const auto& [begin, size] : out) s.store->give_back(reinterpret_cast<void*>(begin), size);  // NOLINT
    EXPECT_EQ(s.registrar.live(), 0u) << "seed " << seed;
    EXPECT_EQ(s.budget.used(), 0u);
  }
}

}  // namespace
}  // namespace matchrdma::host
