#pragma once
// The capacity of the last 8192 slots as far as it is known (ESTIMATOR 4).
#include <array>
#include <cstdint>

#include "dataplane/base/check.h"

namespace matchrdma {

/// Duty: a ring addressed by slot number. Every value stands twice, so that any stretch can be read in one
/// piece. Does not know what the values mean.
class CapacityMemory {
 public:
  static constexpr int64_t kSlots = 8192;  ///< 1.6 s: six periods of the longest that is looked for

  /// The next slot's number; begin() is the oldest one kept.
  int64_t begin() const { return begin_; }
  int64_t end() const { return end_; }
  int64_t size() const { return end_ - begin_; }

  void push(double gbps) {
    ++end_;
    if (size() > kSlots) begin_ = end_ - kSlots;
    set(end_ - 1, gbps);
  }
  void set(int64_t slot, double gbps) {
    MRDMA_CHECK(slot >= begin_ && slot < end_);
    at_[index(slot)] = at_[index(slot) + kSlots] = static_cast<float>(gbps);
  }
  double at(int64_t slot) const {
    MRDMA_CHECK(slot >= begin_ && slot < end_);
    return static_cast<double>(at_[index(slot)]);
  }
  double back() const { return at(end_ - 1); }
  /// The slots from `slot` to end() - 1, in order.
  const float* from(int64_t slot) const {
    MRDMA_CHECK(slot >= begin_ && slot <= end_);
    return &at_[index(slot)];
  }
  /// Forgets everything; the next slot is `slot`.
  void restart(int64_t slot) { begin_ = end_ = slot; }

 private:
  static size_t index(int64_t slot) { return static_cast<size_t>(slot & (kSlots - 1)); }
  int64_t begin_ = 0, end_ = 0;
  std::array<float, 2 * kSlots> at_{};
};

}  // namespace matchrdma
