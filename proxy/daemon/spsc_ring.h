#pragma once
// From one thread to one other, without a lock.
#include <atomic>
#include <cstddef>
#include <vector>

namespace matchrdma::daemon {

/// Duty: a bounded queue between two threads. push() belongs to one of them, pop() to the other.
template <class T>
class SpscRing {
 public:
  /// capacity: a power of two.
  explicit SpscRing(size_t capacity) : slots_(capacity) {}
  SpscRing(const SpscRing&) = delete;

  /// False: full.
  bool push(const T& value) {
    const size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) == slots_.size()) return false;
    slots_[tail & (slots_.size() - 1)] = value;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }
  /// False: empty.
  bool pop(T& value) {
    const size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return false;
    value = slots_[head & (slots_.size() - 1)];
    head_.store(head + 1, std::memory_order_release);
    return true;
  }
  /// By either of the two; what it says may be over at once.
  bool empty() const { return head_.load(std::memory_order_relaxed) == tail_.load(std::memory_order_acquire); }

 private:
  std::vector<T> slots_;
  alignas(64) std::atomic<size_t> head_{0};
  alignas(64) std::atomic<size_t> tail_{0};
};

}  // namespace matchrdma::daemon
