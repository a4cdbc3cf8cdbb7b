#pragma once
#include <array>
#include <cstdint>

namespace matchrdma {

/// Which of the newest 1024 counters were seen (C11; RFC 4303 3.4.3 is the model). Knows nothing of seals: it
/// must be asked after the seal was found right, or a forger could push honest datagrams out.
class ReplayWindow {
 public:
  static constexpr uint64_t kWidth = 1024;

  /// True once per counter: not seen yet, and not older than the window reaches.
  bool take(uint64_t counter) {
    if (!any_ || counter > newest_) {
      advance(counter);
    } else if (newest_ - counter >= kWidth) {
      return false;
    }
    uint64_t& word = seen_[counter / 64 % kWords];
    const uint64_t bit = uint64_t{1} << (counter % 64);
    if ((word & bit) != 0) return false;
    word |= bit;
    return true;
  }

 private:
  /// One word more than the width, so that clearing whole words never clears a counter still inside.
  static constexpr uint64_t kWords = kWidth / 64 + 1;

  void advance(uint64_t counter) {
    const uint64_t from = any_ ? newest_ / 64 : counter / 64;
    const uint64_t steps = counter / 64 - from;
    for (uint64_t i = 1; i <= steps && i <= kWords; ++i) seen_[(from + i) % kWords] = 0;
    newest_ = counter;
    any_ = true;
  }

  std::array<uint64_t, kWords> seen_{};
  uint64_t newest_ = 0;
  bool any_ = false;
};

}  // namespace matchrdma
