#pragma once
// A set of small numbers that is gone through in a circle.
#include <bit>
#include <cstdint>
#include <vector>

#include "dataplane/base/check.h"

namespace matchrdma::sim {

/// Duty: one bit per number, so that a host with a thousand idle QPs finds the busy one in a few words.
class IndexSet {
 public:
  /// Room for the numbers below `n`. Never shrinks.
  void resize(uint32_t n) { words_.resize((n + 63) / 64); }
  void set(uint32_t i, bool member) {
    uint64_t& word = words_[i / 64];
    const uint64_t bit = uint64_t{1} << i % 64;
    if (((word & bit) != 0) == member) return;
    word ^= bit;
    size_ += member ? 1 : -1;
  }
  bool empty() const { return size_ == 0; }
  uint32_t size() const { return static_cast<uint32_t>(size_); }
  /// The next member behind `i`, around the end; `i` itself when it is the only one. Not of an empty set.
  uint32_t next_after(uint32_t i) const {
    MRDMA_CHECK(size_ > 0);
    size_t w = i / 64;
    // Shifted twice: 64 places at once are not defined.
    uint64_t word = words_[w] & (~uint64_t{0} << i % 64 << 1);
    while (word == 0) {
      w = w + 1 == words_.size() ? 0 : w + 1;
      word = words_[w];
    }
    return static_cast<uint32_t>(w * 64) + static_cast<uint32_t>(std::countr_zero(word));
  }

 private:
  std::vector<uint64_t> words_;
  int32_t size_ = 0;
};

}  // namespace matchrdma::sim
