#pragma once
// Percentiles of many times in fixed memory.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "dataplane/base/time.h"

namespace matchrdma {

/// Duty: percentiles with a relative error below 1/4096; the maximum is exact.
class LatencyHistogram {
 public:
  void add(Duration d) {
    const auto ns = static_cast<uint64_t>(std::max<int64_t>(0, d.ns));
    const size_t b = bucket(ns);
    if (b >= buckets_.size()) buckets_.resize(b + 1);
    ++buckets_[b];
    ++samples_;
    max_ = std::max(max_, static_cast<int64_t>(ns));
  }
  uint64_t samples() const { return samples_; }
  int64_t max() const { return max_; }
  /// Smallest time that `percent` of all samples do not exceed.
  int64_t percentile(uint64_t percent) const {
    const uint64_t rank = (samples_ * percent + 99) / 100;
    uint64_t seen = 0;
    for (size_t b = 0; b < buckets_.size(); ++b) {
      seen += buckets_[b];
      if (seen >= rank && seen > 0) return std::min(max_, upper(b));
    }
    return max_;
  }

 private:
  static constexpr int kBits = 12;  // values below 2^kBits have a bucket each, octaves above 2^(kBits-1) each
  static size_t bucket(uint64_t v) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(v)) - kBits);
    return (static_cast<size_t>(shift) << (kBits - 1)) + static_cast<size_t>(v >> shift);
  }
  static int64_t upper(size_t b) {
    constexpr size_t kHalf = size_t{1} << (kBits - 1);
    if (b < 2 * kHalf) return static_cast<int64_t>(b);
    const size_t shift = b / kHalf - 1;
    const size_t mantissa = b - shift * kHalf;
    return static_cast<int64_t>(((mantissa + 1) << shift) - 1);
  }
  std::vector<uint64_t> buckets_;
  uint64_t samples_ = 0;
  int64_t max_ = 0;
};

}  // namespace matchrdma
