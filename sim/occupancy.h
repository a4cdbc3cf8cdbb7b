#pragma once
// How full a memory was, over time (SIMULATOR 7, "destination-OTN buffer").
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "sim/sim_time.h"

namespace matchrdma::sim {

/// Duty: sampled on every change, so nothing between two samples is missed. Time is counted in buckets of 1/16
/// of a power of two: a quantile is right within 6.25 %, the peak exactly.
class Occupancy {
 public:
  void add(int64_t bytes, SimTime now) { set(bytes_ + bytes, now); }
  void set(int64_t bytes, SimTime now) {
    times_[bucket(bytes_)] += (now - since_).ps;
    since_ = now;
    bytes_ = bytes;
    peak_ = std::max(peak_, bytes_);
  }
  /// What was before does not count.
  void start(SimTime now) {
    times_.fill(0);
    since_ = now;
    peak_ = bytes_;
  }

  int64_t bytes() const { return bytes_; }
  int64_t peak() const { return peak_; }
  /// Least bound that held for a `share` of the time up to `now`, bytes.
  int64_t quantile(double share, SimTime now) {
    set(bytes_, now);
    double total = 0, sum = 0;
    for (const int64_t t : times_) total += static_cast<double>(t);
    for (size_t i = 0; i < kBuckets; ++i) {
      sum += static_cast<double>(times_[i]);
      if (sum >= share * total) return std::min(bound(i), peak_);
    }
    return peak_;
  }

 private:
  static constexpr int kFine = 4;  ///< bits below the first
  static constexpr size_t kBuckets = (64 - kFine) << kFine;
  static constexpr size_t bucket(int64_t bytes) {
    const auto b = static_cast<uint64_t>(bytes);
    const int shift = std::max(0, static_cast<int>(std::bit_width(b)) - kFine - 1);
    return (static_cast<size_t>(shift) << kFine) + static_cast<size_t>(b >> shift);
  }
  /// Highest value of a bucket.
  static constexpr int64_t bound(size_t i) {
    if (i < size_t{2} << kFine) return static_cast<int64_t>(i);
    const auto shift = static_cast<int>(i >> kFine) - 1;
    const auto top = static_cast<int64_t>(i & ((size_t{1} << kFine) - 1)) + (int64_t{1} << kFine);
    return ((top + 1) << shift) - 1;
  }

  std::array<int64_t, kBuckets> times_{};  ///< ps
  SimTime since_{};
  int64_t bytes_ = 0, peak_ = 0;
};

}  // namespace matchrdma::sim
