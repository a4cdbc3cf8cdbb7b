#pragma once
// Sizes of messages, drawn from a distribution with straight lines between its knots.
#include <cstdint>
#include <span>

#include "dataplane/base/prng.h"

namespace matchrdma::sim {

struct SizeKnot {
  int64_t bytes;
  double share;  ///< of messages that are not larger; from 0 at the first knot to 1 at the last
};

/// Bytes.
constexpr double mean_size(std::span<const SizeKnot> knots) {
  double mean = 0;
  for (size_t i = 1; i < knots.size(); ++i) {
    const SizeKnot &a = knots[i - 1], &b = knots[i];
    mean += (b.share - a.share) * static_cast<double>(a.bytes + b.bytes) / 2;
  }
  return mean;
}

/// At least 1 byte.
int64_t draw_size(std::span<const SizeKnot> knots, Prng& prng);

}  // namespace matchrdma::sim
