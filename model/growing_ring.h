#pragma once
// A queue in one growing block of memory, for what stands around the core: the core itself has PooledRing.
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "dataplane/base/check.h"

namespace matchrdma::model {

/// Duty: what std::deque does, without an allocation for every few elements. Never shrinks. References are
/// valid until the next push or insert.
template <class T>
class GrowingRing {
 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return slots_[(head_ + i) & (slots_.size() - 1)]; }
  const T& operator[](size_t i) const { return slots_[(head_ + i) & (slots_.size() - 1)]; }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }

  void push_back(T v) {
    if (size_ == slots_.size()) grow();
    ++size_;
    back() = std::move(v);
  }
  void pop_front() {
    MRDMA_CHECK(size_ > 0);
    if constexpr (!std::is_trivially_destructible_v<T>) front() = T{};
    head_ = (head_ + 1) & (slots_.size() - 1);
    --size_;
  }
  /// Puts `v` before the element at `place`; what stands behind moves up.
  void insert(size_t place, T v) {
    push_back(std::move(v));
    for (size_t i = size_ - 1; i > place; --i) std::swap((*this)[i], (*this)[i - 1]);
  }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? 16 : slots_.size() * 2);
    for (size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    head_ = 0;
  }
  std::vector<T> slots_;  // a power of two of them
  size_t head_ = 0, size_ = 0;
};

}  // namespace matchrdma::model
