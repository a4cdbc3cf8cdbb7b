#pragma once
// A deque of T addressed by an absolute, ever-growing index. Its memory comes in chunks from a pool shared by
// all flows of one worker and bounded at start. A chunk is allocated when it is first needed and kept for ever
// after.
#include <cstdint>
#include <memory>
#include <vector>

#include "dataplane/base/check.h"

namespace matchrdma {

/// Chunks of kChunk elements of T, and the directories that rings use while they hold anything.
template <typename T>
class ChunkPool {
 public:
  static constexpr uint32_t kChunk = 128;
  static constexpr uint32_t kDirectory = 2048;  ///< chunks one ring can hold: 2^18 elements
  static constexpr uint64_t kMaxElements = uint64_t{kChunk} * (kDirectory - 1);

  struct Chunk {
    T at[kChunk];
  };
  struct Directory {
    Chunk* at[kDirectory];
  };

  /// `chunks` x kChunk elements in all; at most `rings` rings may be non-empty at one time.
  ChunkPool(uint32_t chunks, uint32_t rings) : max_chunks_(chunks), max_directories_(rings) {
    free_chunks_.reserve(chunks);
    free_directories_.reserve(rings);
    chunks_.reserve(chunks);
    directories_.reserve(rings);
  }
  Chunk* take_chunk() {
    if (!free_chunks_.empty()) {
      Chunk* c = free_chunks_.back();
      free_chunks_.pop_back();
      return c;
    }
    if (chunks_.size() == max_chunks_) return nullptr;
    chunks_.push_back(std::make_unique<Chunk>());
    return chunks_.back().get();
  }
  void give_chunk(Chunk* c) { free_chunks_.push_back(c); }
  Directory* take_directory() {
    if (!free_directories_.empty()) {
      Directory* d = free_directories_.back();
      free_directories_.pop_back();
      return d;
    }
    if (directories_.size() == max_directories_) return nullptr;
    directories_.push_back(std::make_unique<Directory>());
    return directories_.back().get();
  }
  void give_directory(Directory* d) { free_directories_.push_back(d); }

 private:
  uint32_t max_chunks_, max_directories_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<std::unique_ptr<Directory>> directories_;
  std::vector<Chunk*> free_chunks_;
  std::vector<Directory*> free_directories_;
};

template <typename T>
class PooledRing {
  using Pool = ChunkPool<T>;

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

  /// False when the pool or the ring's own limit is exhausted; nothing is changed then and `v` is left as it
  /// was.
  bool push_back(T&& v) {
    if (size() >= Pool::kMaxElements) return false;
    if (dir_ == nullptr && (dir_ = pool_->take_directory()) == nullptr) return false;
    if (tail_ % Pool::kChunk == 0 || empty()) {
      typename Pool::Chunk* c = pool_->take_chunk();
      if (c == nullptr) {
        if (empty()) drop_directory();
        return false;
      }
      dir_->at[(tail_ / Pool::kChunk) % Pool::kDirectory] = c;
    }
    ++tail_;
    slot(tail_ - 1) = std::move(v);
    return true;
  }
  void pop_front() {
    MRDMA_CHECK(!empty());
    slot(head_) = T{};
    ++head_;
    if (head_ % Pool::kChunk == 0 || head_ == tail_) pool_->give_chunk(chunk(head_ - 1));
    if (empty()) drop_directory();
  }
  void pop_back() {
    MRDMA_CHECK(!empty());
    slot(tail_ - 1) = T{};
    --tail_;
    if (tail_ % Pool::kChunk == 0 || head_ == tail_) pool_->give_chunk(chunk(tail_));
    if (empty()) drop_directory();
  }
  void clear() {
    while (!empty()) pop_front();
  }

 private:
  typename Pool::Chunk* chunk(uint64_t i) { return dir_->at[(i / Pool::kChunk) % Pool::kDirectory]; }
  T& slot(uint64_t i) { return chunk(i)->at[i % Pool::kChunk]; }
  void drop_directory() {
    pool_->give_directory(dir_);
    dir_ = nullptr;
  }
  Pool* pool_;
  typename Pool::Directory* dir_ = nullptr;
  uint64_t head_ = 0, tail_ = 0;
};

}  // namespace matchrdma
