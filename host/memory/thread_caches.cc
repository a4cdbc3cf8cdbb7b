#include "host/memory/thread_caches.h"

#include <algorithm>
#include <map>
#include <utility>

#include "dataplane/base/check.h"
#include "host/memory/private_jemalloc.h"

namespace matchrdma::host {

constinit thread_local LatestCache t_latest_cache;

namespace {

/// Which heaps live. Its lock is held while a cache is destroyed, so that a heap and a thread can end at once.
struct LivingHeaps {
  std::mutex mutex;
  uint64_t last_id = 0;
  std::map<uint64_t, ThreadCaches*> by_id;
};

LivingHeaps& living() {
  static auto* const heaps = new LivingHeaps;  // threads may end after the static objects did
  return *heaps;
}

constinit thread_local bool t_ended = false;

uint64_t new_id(ThreadCaches* caches) {
  LivingHeaps& heaps = living();
  const std::lock_guard lock(heaps.mutex);
  heaps.by_id.emplace(++heaps.last_id, caches);
  return heaps.last_id;
}

void destroy(const ThreadCache& cache) { MRDMA_CHECK(jemalloc::write("tcache.destroy", cache.tcache) == 0); }

}  // namespace

/// The caches of one thread in all heaps, by heap. What its later destructors still allocate is not cached.
struct EndOfThread {
  std::vector<std::pair<uint64_t, ThreadCache*>> caches;

  ~EndOfThread() {
    t_ended = true;
    t_latest_cache = {};
    LivingHeaps& heaps = living();
    const std::lock_guard lock(heaps.mutex);
    for (const auto& [id, cache] : caches) {
      const auto heap = heaps.by_id.find(id);
      if (heap != heaps.by_id.end()) heap->second->retire(cache);
    }
  }
  void forget_dead_heaps() {
    LivingHeaps& heaps = living();
    const std::lock_guard lock(heaps.mutex);
    std::erase_if(caches, [&](const auto& c) { return !heaps.by_id.contains(c.first); });
  }
};

namespace {
thread_local EndOfThread t_end;
}

ThreadCaches::ThreadCaches(const std::vector<unsigned>& arenas) : id_(new_id(this)), arenas_(arenas) {
  shared_.shared = true;
  shared_.allocate_flags = MALLOCX_ARENA(arenas_.front()) | MALLOCX_TCACHE_NONE;
  shared_.free_flags = MALLOCX_TCACHE_NONE;
}

ThreadCaches::~ThreadCaches() {
  LivingHeaps& heaps = living();
  const std::lock_guard lock(heaps.mutex);
  heaps.by_id.erase(id_);
  for (const auto& cache : caches_) destroy(*cache);
}

ThreadCache& ThreadCaches::find_mine() {
  if (t_ended) return shared_;
  const auto known =
      std::find_if(t_end.caches.begin(), t_end.caches.end(), [this](const auto& c) { return c.first == id_; });
  ThreadCache* cache = known != t_end.caches.end() ? known->second : nullptr;
  if (cache == nullptr) {
    t_end.forget_dead_heaps();
    cache = make();
    if (cache != nullptr) t_end.caches.emplace_back(id_, cache);
  }
  if (cache == nullptr) cache = &shared_;
  t_latest_cache = {id_, cache};
  return *cache;
}

ThreadCache* ThreadCaches::make() {
  auto cache = std::make_unique<ThreadCache>();
  if (jemalloc::read("tcache.create", cache->tcache) != 0) return nullptr;
  const std::lock_guard lock(mutex_);
  cache->free_flags = MALLOCX_TCACHE(cache->tcache);
  cache->allocate_flags = MALLOCX_ARENA(arenas_[next_arena_++ % arenas_.size()]) | cache->free_flags;
  caches_.push_back(std::move(cache));
  return caches_.back().get();
}

void ThreadCaches::retire(ThreadCache* cache) {
  destroy(*cache);
  const std::lock_guard lock(mutex_);
  retired_in_use_ += cache->in_use.load(std::memory_order_relaxed);
  std::erase_if(caches_, [cache](const auto& c) { return c.get() == cache; });
}

void ThreadCaches::flush_mine() {
  const ThreadCache& cache = mine();
  if (!cache.shared) MRDMA_CHECK(jemalloc::write("tcache.flush", cache.tcache) == 0);
}

int64_t ThreadCaches::in_use() const {
  const std::lock_guard lock(mutex_);
  int64_t sum = retired_in_use_ + shared_.in_use.load(std::memory_order_relaxed);
  for (const auto& cache : caches_) sum += cache->in_use.load(std::memory_order_relaxed);
  return sum;
}

size_t ThreadCaches::count() const {
  const std::lock_guard lock(mutex_);
  return caches_.size();
}

}  // namespace matchrdma::host
