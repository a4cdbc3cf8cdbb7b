#pragma once
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/memory/budget.h"
#include "host/memory/registrar.h"

namespace matchrdma::host {

inline constexpr unsigned kChunkBits = 22;
inline constexpr size_t kChunk = size_t{1} << kChunkBits;  ///< 4 MiB, as ByteExpress 5.2

struct ChunkStats {
  size_t chunks = 0;   ///< of 4 MiB, registered
  size_t regions = 0;  ///< one for each chunk, or for several that one big extent needed in one piece
  size_t carved = 0;   ///< bytes of them that were handed out
};

/// Duty: the chunks of one heap. Reserves addresses once, makes chunks of them as they are needed, registers
/// each, carves extents out of them and takes these back; a region that is whole again is unregistered. An
/// extent lies in one region. Any thread may call. It does not know who uses the extents.
class ChunkStore {
 public:
  /// Reserves addresses for four times the budget, so that chunks in one piece are found between others.
  static Result<std::unique_ptr<ChunkStore>> create(Registrar& registrar, Budget& budget);
  ~ChunkStore();  ///< unregisters everything, whoever still holds an extent
  ChunkStore(const ChunkStore&) = delete;
  ChunkStore& operator=(const ChunkStore&) = delete;

  /// Whole pages; alignment is a power of two. The smallest free range that fits, else a new region. nullptr:
  /// failure() says why, and nothing has changed.
  void* carve(size_t size, size_t alignment);
  void give_back(void* p, size_t size);

  bool same_region(const void* a, const void* b) const { return find(a) == find(b); }
  /// The region of an address, nullptr where none is: O(1).
  const Registration* find(const void* p) const {
    const size_t offset = reinterpret_cast<uintptr_t>(p) - base_;
    return offset < span_ ? table_[offset >> kChunkBits].load(std::memory_order_acquire) : nullptr;
  }
  uintptr_t base() const { return base_; }
  size_t span() const { return span_; }

  /// Why carve() failed the last time, in whichever thread.
  std::string failure() const;
  ChunkStats stats() const;

 private:
  ChunkStore(Registrar& registrar, Budget& budget, uintptr_t base, size_t span);

  uintptr_t from_free(size_t size, size_t alignment);
  uintptr_t from_new_region(size_t size, size_t alignment);
  uintptr_t find_hole(size_t chunks, size_t alignment) const;
  void put_free(uintptr_t begin, size_t size);
  void drop_free(uintptr_t begin, size_t size);
  void release(uintptr_t begin);
  uintptr_t fail(std::string why);

  Registrar& registrar_;
  Budget& budget_;
  uintptr_t base_;
  size_t span_;
  std::vector<std::atomic<const Registration*>> table_;  ///< by (p - base) >> 22

  mutable std::mutex mutex_;  ///< guards all below, and who writes to table_
  std::map<uintptr_t, Registration> regions_;
  std::map<uintptr_t, size_t> free_;                     ///< by address; neighbours of one region are merged
  std::set<std::pair<size_t, uintptr_t>> free_by_size_;  ///< the same by size
  size_t carved_ = 0;
  std::string failure_;
};

}  // namespace matchrdma::host
