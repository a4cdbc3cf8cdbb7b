#pragma once
// The sizes of ByteExpress 5.2 (papers/001): large ones fall off exponentially, small ones linearly. It names
// the ranges only; the fall-offs are those of rpmalloc's own benchmark, on whose allocator it built.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/base/prng.h"

namespace matchrdma::memory_bench {

struct Shape {
  std::string name;
  size_t low, high;
  bool exponential;
  size_t live;   ///< buffers that a thread holds
  size_t pairs;  ///< of a free and an allocation in one turn
};

inline std::vector<Shape> shapes() {
  return {{"64 KB-1 MB exponential", 64 << 10, 1 << 20, true, 64, 20'000},
          {"16 B-16 KB linear", 16, 16 << 10, false, 2000, 200'000}};
}

inline size_t draw(const Shape& s, Prng& random) {
  const auto range = static_cast<double>(s.high - s.low);
  const double u = random.unit();
  // Linear: the density falls from its most at `low` to none at `high`. Exponential: a mean of a quarter of the
  // range.
  const double x = s.exponential ? std::min(1.0, -std::log1p(-u) / 4) : 1 - std::sqrt(1 - u);
  return s.low + static_cast<size_t>(x * range);
}

}  // namespace matchrdma::memory_bench
