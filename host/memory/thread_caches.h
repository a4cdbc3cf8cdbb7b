#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace matchrdma::host {

/// What one thread needs of one heap: jemalloc's flags with its arena and its explicit cache.
struct alignas(64) ThreadCache {
  int allocate_flags = 0;
  int free_flags = 0;
  unsigned tcache = 0;
  bool shared = false;              ///< by all threads that have no cache
  std::atomic<int64_t> in_use = 0;  ///< bytes this thread allocated less those it freed

  void count(int64_t bytes) {
    if (shared) {
      in_use.fetch_add(bytes, std::memory_order_relaxed);
    } else {
      in_use.store(in_use.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
    }
  }
};

/// The cache that a thread used last.
struct LatestCache {
  uint64_t owner = 0;  ///< a ThreadCaches' id
  ThreadCache* cache = nullptr;
};
extern constinit thread_local LatestCache t_latest_cache;

/// Duty: the explicit thread caches of one heap: made when a thread first comes, emptied and destroyed when it
/// ends or when the heap does. It does not know what is allocated.
class ThreadCaches {
 public:
  explicit ThreadCaches(const std::vector<unsigned>& arenas);
  ~ThreadCaches();  ///< no thread may be using the heap any more; threads that did may live on
  ThreadCaches(const ThreadCaches&) = delete;
  ThreadCaches& operator=(const ThreadCaches&) = delete;

  ThreadCache& mine() {
    LatestCache& latest = t_latest_cache;
    return latest.owner == id_ ? *latest.cache : find_mine();
  }
  /// Empties the calling thread's into the arenas.
  void flush_mine();
  int64_t in_use() const;
  size_t count() const;

 private:
  friend struct EndOfThread;
  ThreadCache& find_mine();
  ThreadCache* make();
  void retire(ThreadCache* cache);

  const uint64_t id_;
  const std::vector<unsigned> arenas_;
  ThreadCache shared_;  ///< for threads that are ending, and for those beyond jemalloc's 4094 caches
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadCache>> caches_;
  int64_t retired_in_use_ = 0;
  size_t next_arena_ = 0;
};

}  // namespace matchrdma::host
