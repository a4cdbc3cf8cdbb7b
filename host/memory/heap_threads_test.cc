// The heap among threads: caches come and go with them, buffers are freed by others.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "dataplane/base/prng.h"
#include "host/memory/registered_heap.h"
#include "host/memory/test_registrar.h"

namespace matchrdma::host {
namespace {

std::unique_ptr<RegisteredHeap> make(test::TestRegistrar& registrar, size_t limit) {
  auto heap = RegisteredHeap::create(registrar, {limit, 2});
  EXPECT_TRUE(heap.ok());
  return std::move(*heap);
}

TEST(HeapThreads, ABufferIsFreedByAnotherThread) {
  test::TestRegistrar registrar;
  const auto heap = make(registrar, 16 * kChunk);
  std::vector<void*> out;
  for (size_t size = 1; size < 2'000'000; size = size * 3 / 2 + 1) out.push_back(heap->allocate(size));
  EXPECT_GT(heap->stats().in_use, 0u);
  std::thread([&] {
    for (void* p : out) heap->free(p);
  }).join();
  EXPECT_EQ(heap->stats().in_use, 0u);
  heap->trim();
  EXPECT_EQ(registrar.live(), 0u);  // the thread's cache went with it, and what was in it
}

TEST(HeapThreads, CachesEndWithTheirThreads) {
  test::TestRegistrar registrar;
  const auto heap = make(registrar, 16 * kChunk);
  for (int i = 0; i < 5000; ++i) {  // more than there can be caches at once (4094)
    std::thread([&] { heap->free(heap->allocate(100)); }).join();
  }
  EXPECT_EQ(heap->stats().thread_caches, 0u);
}

TEST(HeapThreads, AThreadOutlivesTheHeapsItUsed) {
  test::TestRegistrar registrar;
  for (int i = 0; i < 5000; ++i) {  // in this thread; each has arenas and a cache of its own
    const auto heap = make(registrar, kChunk);
    void* p = heap->allocate(100);
    ASSERT_NE(p, nullptr) << i;
    heap->free(p);
    ASSERT_EQ(heap->stats().thread_caches, 1u) << i;
  }
  EXPECT_EQ(registrar.live(), 0u);
}

TEST(HeapThreads, OneThreadUsesTwoHeaps) {
  test::TestRegistrar registrar;
  const auto a = make(registrar, 4 * kChunk), b = make(registrar, 4 * kChunk);
  for (int i = 0; i < 1000; ++i) {
    void *p = a->allocate(200), *q = b->allocate(200);
    ASSERT_NE(a->find(p), nullptr);
    ASSERT_EQ(a->find(q), nullptr);
    a->free(p);
    b->free(q);
  }
  EXPECT_EQ(a->stats().thread_caches, 1u);
  EXPECT_EQ(a->stats().in_use + b->stats().in_use, 0u);
}

/// Uses the heap when the thread's other objects are gone already.
struct LateUser {
  RegisteredHeap* heap = nullptr;
  void* p = nullptr;
  ~LateUser() {
    if (heap == nullptr) return;
    heap->free(p);
    heap->free(heap->allocate(300));
  }
};
thread_local LateUser t_late;

TEST(HeapThreads, DestructorsOfAThreadMayStillUseIt) {
  test::TestRegistrar registrar;
  const auto heap = make(registrar, 4 * kChunk);
  std::thread([&] {
    t_late.heap = heap.get();  // made before the heap's own object of this thread, so it ends after it
    t_late.p = heap->allocate(300);
  }).join();
  EXPECT_EQ(heap->stats().thread_caches, 0u);
  EXPECT_EQ(heap->stats().in_use, 0u);
}

TEST(HeapThreads, HeapAndThreadsEndAtOnce) {
  test::TestRegistrar registrar;
  for (int i = 0; i < 200; ++i) {
    auto heap = make(registrar, 4 * kChunk);
    std::atomic<int> done = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        heap->free(heap->allocate(1000));
        ++done;
      });
    }
    while (done != 3) std::this_thread::yield();
    heap.reset();  // while they end
    for (std::thread& t : threads) t.join();
  }
  EXPECT_EQ(registrar.live(), 0u);
}

// Free memory never leaves the allocator by itself, so small buffers must be able to come out of large free
// extents, such as a thread leaves behind that returned all it had.
TEST(HeapThreads, ThreadsThatComeAndGoDoNotMakeItGrow) {
  test::TestRegistrar registrar;
  auto heap = RegisteredHeap::create(registrar, {256 * kChunk, 1});
  ASSERT_TRUE(heap.ok());
  size_t early = 0;
  for (uint64_t round = 0; round < 20; ++round) {
    std::thread([&] {
      Prng random(round);
      std::vector<void*> out(2000);
      for (int i = 0; i < 20000; ++i) {
        void*& p = out[random.below(out.size())];
        (*heap)->free(p);
        p = (*heap)->allocate(16 + random.below(16384));
      }
      for (void* p : out) (*heap)->free(p);
    }).join();
    if (round == 3) early = (*heap)->stats().registered;
  }
  EXPECT_LE((*heap)->stats().registered, early + 2 * kChunk);
  EXPECT_LE(early, 12 * kChunk);
}

/// Buffers on their way to whoever frees them.
class Exchange {
 public:
  void* swap(void* p, Prng& random) {
    const std::lock_guard lock(mutex_);
    std::swap(p, slots_[random.below(slots_.size())]);
    return p;
  }
  std::vector<void*>& slots() { return slots_; }

 private:
  std::mutex mutex_;
  std::vector<void*> slots_ = std::vector<void*>(64);
};

/// Each buffer holds its own size and address at both ends, which nobody else may write.
void fill(void* p, size_t size) {
  const size_t mark[2] = {size, reinterpret_cast<size_t>(p)};
  std::memcpy(p, mark, sizeof mark);
  std::memcpy(static_cast<char*>(p) + size - sizeof mark, mark, sizeof mark);
}
bool intact(const void* p) {
  size_t mark[2], end[2];
  std::memcpy(mark, p, sizeof mark);
  std::memcpy(end, static_cast<const char*>(p) + mark[0] - sizeof end, sizeof end);
  return mark[1] == reinterpret_cast<size_t>(p) && std::memcmp(mark, end, sizeof mark) == 0;
}

TEST(HeapThreads, ManyThreadsTradeBuffersAtTheLimit) {
  test::TestRegistrar registrar;
  auto heap =
      make(registrar, 10 * kChunk);  // too little for all, so that it is exhausted and trimmed all the time
  Exchange exchange;
  std::atomic<uint64_t> made = 0, refused = 0, wrong = 0;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Prng random(t + 1);
      for (int i = 0; i < 15000; ++i) {
        const size_t size = 32 + random.below(size_t{1} << (5 + random.below(random.chance(0.01) ? 18 : 14)));
        void* p = heap->allocate(size);
        if (p != nullptr) {
          ++made;
          fill(p, size);
          if (heap->find(p, size) == nullptr) ++wrong;
        } else {
          ++refused;
        }
        if (void* old = exchange.swap(p, random); old != nullptr) {
          if (!intact(old)) ++wrong;
          heap->free(old);
        }
        if (i % 5000 == 0) heap->trim();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(made, 40000u) << refused << " refused";
  for (void* p : exchange.slots()) heap->free(p);
  EXPECT_EQ(heap->stats().in_use, 0u);
  heap->trim();
  EXPECT_EQ(registrar.live(), 0u);
}

}  // namespace
}  // namespace matchrdma::host
