#pragma once
// How long things took, counted in fixed buckets: cheap enough for the packet path.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "dataplane/base/time.h"

namespace matchrdma {

/// Duty: counts times in buckets whose bounds double, from about a microsecond to about five minutes. One
/// writer; plain numbers, so a reader may see a time in its bucket and not yet in the sum. Knows no clock.
class TimeHistogram {
 public:
  static constexpr int kFirstBits = 10;            ///< first bound: 2^10 ns = 1.024 us
  static constexpr size_t kBounds = 29;            ///< last bound: 2^38 ns = 274.9 s
  static constexpr size_t kBuckets = kBounds + 1;  ///< the last one holds all that took longer

  /// Inclusive upper bound of bucket `i` < kBounds.
  static constexpr Duration bound(size_t i) { return {int64_t{1} << (kFirstBits + static_cast<int>(i))}; }

  void add(Duration d) {
    const auto ns = static_cast<uint64_t>(std::max<int64_t>(0, d.ns));
    ++buckets_[bucket(ns)];
    sum_ns_ += ns;
  }
  /// Adds what another worker counted.
  void add(const TimeHistogram& o) {
    for (size_t i = 0; i < kBuckets; ++i) buckets_[i] += o.buckets_[i];
    sum_ns_ += o.sum_ns_;
  }

  /// Of one bucket alone, not cumulative.
  uint64_t in_bucket(size_t i) const { return buckets_[i]; }
  uint64_t samples() const {
    uint64_t n = 0;
    for (const uint64_t b : buckets_) n += b;
    return n;
  }
  uint64_t sum_ns() const { return sum_ns_; }

 private:
  static constexpr size_t bucket(uint64_t ns) {
    if (ns <= uint64_t{1} << kFirstBits) return 0;
    return std::min<size_t>(kBounds, static_cast<size_t>(std::bit_width(ns - 1)) - kFirstBits);
  }

  std::array<uint64_t, kBuckets> buckets_{};
  uint64_t sum_ns_ = 0;
};

}  // namespace matchrdma
