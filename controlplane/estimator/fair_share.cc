#include "controlplane/estimator/fair_share.h"

#include <algorithm>
#include <numeric>

#include "dataplane/base/check.h"

namespace matchrdma {

// From the claim that asks for least per weight upwards: it gets what it asks for, or its weight's part of what
// is left. Equal ones in their order, so that the result is the same everywhere.
std::span<const double> FairShare::share(double capacity, std::span<const Claim> claims) {
  shares_.assign(claims.size(), 0);
  order_.resize(claims.size());
  std::iota(order_.begin(), order_.end(), 0u);
  double weights = 0;
  for (const Claim& c : claims) {
    MRDMA_CHECK(c.weight > 0 && c.demand >= 0);
    weights += c.weight;
  }
  const double all_weights = weights;
  std::stable_sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
    return claims[a].demand * claims[b].weight < claims[b].demand * claims[a].weight;
  });
  double left = std::max(0.0, capacity);
  for (const uint32_t i : order_) {
    const Claim& c = claims[i];
    // The last one's weight is all that is left; said so, because sums of weights round.
    const double part = i == order_.back() ? left : std::min(left, left * c.weight / weights);
    shares_[i] = std::min(c.demand, part);
    left -= shares_[i];
    weights -= c.weight;
  }
  for (size_t i = 0; i < claims.size(); ++i) shares_[i] += left * claims[i].weight / all_weights;
  return shares_;
}

}  // namespace matchrdma
