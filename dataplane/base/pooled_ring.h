#pragma once
// A deque of T addressed by an absolute, ever-growing index. Its memory comes in chunks from a pool shared by
// all flows of one worker and bounded at start. A chunk is allocated when it is first needed and kept for ever
// after.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dataplane/base/check.h"
#include "dataplane/base/prefetch.h"

namespace matchrdma {

/// Chunks of kChunk elements of T, and the directories of rings that hold more than two of them. Memory is
/// taken in slabs, so that neighbours share pages.
template <typename T>
class ChunkPool {
 public:
  static constexpr uint32_t kChunk = 32;
  static constexpr uint32_t kSmallest = 2;          ///< chunks that a ring reaches without a directory
  static constexpr uint64_t kMaxElements = 262016;  ///< in one ring: 2^13 chunks, less than filled by them

  /// Elements live from push to pop.
  union Slot {
    Slot() {}
    ~Slot() {}
    Slot(const Slot&) = delete;
    T value;
  };
  /// An odd number of cache lines: flows are at the same place in their chunks where packets come in turn, and
  /// at a distance of a power of two these places would all fall into the same few sets of the caches.
  struct alignas(kCacheLine) Chunk {
    static constexpr size_t kBytes = sizeof(Slot) * kChunk;
    static constexpr size_t kLines = (kBytes + kCacheLine - 1) / kCacheLine | 1;
    std::array<Slot, kChunk> at;
    [[no_unique_address]] std::array<std::byte, kLines * kCacheLine - kBytes> apart;
  };
  static_assert(sizeof(Chunk) / kCacheLine % 2 == 1);

  /// At most so many elements in all rings, of which at most `rings` may be non-empty at one time.
  ChunkPool(uint64_t elements, uint32_t rings)
      : elements_left_(elements), left_(chunks(elements, rings)), rings_left_(rings) {
    free_.reserve(left_);
  }
  /// Bytes that such a pool takes at most, directories aside.
  static uint64_t bytes(uint64_t elements, uint32_t rings) { return chunks(elements, rings) * sizeof(Chunk); }
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;

  bool take_ring() { return rings_left_ != 0 && rings_left_-- != 0; }
  void give_ring() { ++rings_left_; }

  bool take_element() { return elements_left_ != 0 && elements_left_-- != 0; }
  void give_element() { ++elements_left_; }

  /// nullptr: all of them are in use.
  Chunk* take_chunk() {
    if (free_.empty() && !grow()) return nullptr;
    Chunk* c = free_.back();
    free_.pop_back();
    return c;
  }
  void give_chunk(Chunk* c) { free_.push_back(c); }

  /// For `size` chunks, a power of two; what was there before still stands in it.
  Chunk** take_directory(uint32_t size) {
    auto& free = free_directories_[static_cast<size_t>(std::countr_zero(size))];
    if (free.empty()) return directories_.emplace_back(std::make_unique<Chunk*[]>(size)).get();
    Chunk** d = free.back();
    free.pop_back();
    return d;
  }
  void give_directory(Chunk** d, uint32_t size) {
    free_directories_[static_cast<size_t>(std::countr_zero(size))].push_back(d);
  }

 private:
  static constexpr size_t kSlabBytes = size_t{2} << 20;

  // Every ring may leave its first and last chunk half used.
  static uint64_t chunks(uint64_t elements, uint32_t rings) {
    return elements / kChunk + 2 * std::min<uint64_t>(rings, elements / kChunk + 1);
  }
  bool grow() {
    const auto n =
        static_cast<uint32_t>(std::min<size_t>(left_, std::max<size_t>(kSlabBytes / sizeof(Chunk), 1)));
    if (n == 0) return false;
    Chunk* slab = slabs_.emplace_back(std::make_unique_for_overwrite<Chunk[]>(n)).get();
    left_ -= n;
    for (uint32_t i = n; i > 0; --i) free_.push_back(slab + i - 1);
    return true;
  }

  uint64_t elements_left_;
  uint64_t left_;  ///< chunks that are not allocated yet
  uint32_t rings_left_;
  std::vector<Chunk*> free_;
  std::vector<std::unique_ptr<Chunk[]>> slabs_;
  std::array<std::vector<Chunk**>, 14> free_directories_;
  std::vector<std::unique_ptr<Chunk*[]>> directories_;
};

/// Within a cache line: what a push into a chunk that has room touches besides the element.
template <typename T>
class PooledRing {
  using Pool = ChunkPool<T>;
  using Chunk = typename Pool::Chunk;

 public:
  explicit PooledRing(Pool& pool) : pool_(&pool) {}
  PooledRing(const PooledRing&) = delete;
  PooledRing& operator=(const PooledRing&) = delete;
  ~PooledRing() { clear(); }

  uint64_t begin() const { return head_; }
  uint64_t end() const { return tail_; }
  uint64_t size() const { return tail_ - head_; }
  bool empty() const { return head_ == tail_; }
  T& operator[](uint64_t i) {
    MRDMA_CHECK(i >= head_ && i < tail_);
    return slot(i);
  }
  const T& operator[](uint64_t i) const { return const_cast<PooledRing&>(*this)[i]; }
  T& front() { return (*this)[head_]; }
  T& back() { return (*this)[tail_ - 1]; }

  /// A new last element, made of `parts` in its place; nullptr when the pool or the ring's own limit is
  /// exhausted, and nothing is changed then.
  template <typename... Part>
  T* extend(Part&&... parts) {
    if (!pool_->take_element()) return nullptr;
    if (empty()) origin_ = tail_;
    if ((tail_ - origin_) % Pool::kChunk == 0 && !take_tail_chunk()) {
      pool_->give_element();
      return nullptr;
    }
    return std::construct_at(&slot(tail_++), std::forward<Part>(parts)...);
  }
  /// False as extend() says; `v` is left as it was then.
  bool push_back(T&& v) { return extend(std::move(v)) != nullptr; }
  void pop_front() {
    MRDMA_CHECK(!empty());
    std::destroy_at(&slot(head_));
    pool_->give_element();
    ++head_;
    if ((head_ - origin_) % Pool::kChunk == 0 || empty()) give_chunk(head_ - 1);
  }
  void pop_back() {
    MRDMA_CHECK(!empty());
    std::destroy_at(&slot(tail_ - 1));
    pool_->give_element();
    --tail_;
    if ((tail_ - origin_) % Pool::kChunk == 0 || empty()) give_chunk(tail_);
  }
  void clear() {
    while (!empty()) pop_front();
  }
  /// Something will be pushed soon: so many cache lines of it.
  void prefetch_back(size_t lines = 1) const {
    if ((tail_ - origin_) % Pool::kChunk != 0)
      prefetch_lines(&const_cast<PooledRing&>(*this).slot(tail_), lines);
  }
  /// The first elements will be looked at.
  void prefetch_front(uint64_t most) const {
    for (uint64_t i = head_; i < std::min(head_ + most, tail_); ++i) prefetch_line(&(*this)[i]);
  }

 private:
  uint64_t number(uint64_t i) const { return (i - origin_) / Pool::kChunk; }
  Chunk*& chunk(uint64_t i) {
    const uint64_t n = number(i);
    return size_ == Pool::kSmallest ? few_[n % Pool::kSmallest] : many_[n & (size_ - 1)];
  }
  T& slot(uint64_t i) { return chunk(i)->at[(i - origin_) % Pool::kChunk].value; }

  bool take_tail_chunk() {
    if (size() >= Pool::kMaxElements || (empty() && !pool_->take_ring())) return false;
    Chunk* c = pool_->take_chunk();
    if (c == nullptr) {
      if (empty()) pool_->give_ring();
      return false;
    }
    // All chunks of the directory are in use once the tail's would stand where the head's does.
    if (!empty() && number(tail_) - number(head_) == size_) double_directory();
    chunk(tail_) = c;
    return true;
  }
  void double_directory() {
    Chunk** bigger = pool_->take_directory(size_ * 2);
    for (uint64_t n = number(head_); n < number(tail_); ++n)
      bigger[n & (size_ * 2 - 1)] = chunk(origin_ + n * Pool::kChunk);
    if (size_ != Pool::kSmallest) pool_->give_directory(many_, size_);
    many_ = bigger;
    size_ *= 2;
  }
  void give_chunk(uint64_t i) {
    pool_->give_chunk(chunk(i));
    if (!empty()) return;
    pool_->give_ring();
    if (size_ != Pool::kSmallest) pool_->give_directory(many_, size_);
    size_ = Pool::kSmallest;
  }

  Pool* pool_;
  uint64_t head_ = 0, tail_ = 0;
  uint64_t origin_ = 0;  ///< where a chunk begins: what came first, so that short rings use the same few lines
  uint32_t size_ = Pool::kSmallest;  ///< chunks that can be named
  std::array<Chunk*, Pool::kSmallest> few_{};
  Chunk** many_ = nullptr;
};

}  // namespace matchrdma
