#include "sim/workload/size_distribution.h"

#include <algorithm>

namespace matchrdma::sim {

int64_t draw_size(std::span<const SizeKnot> knots, Prng& prng) {
  const double u = prng.unit();
  size_t i = 1;
  while (u >= knots[i].share) ++i;  // the last is 1, and u is less
  const SizeKnot &a = knots[i - 1], &b = knots[i];
  const double part = (u - a.share) / (b.share - a.share);
  return std::max<int64_t>(a.bytes + static_cast<int64_t>(part * static_cast<double>(b.bytes - a.bytes)), 1);
}

}  // namespace matchrdma::sim
