#pragma once
// Laws of numbers of losses, right also where chances are tiny and numbers huge.
#include <cstdint>
#include <vector>

namespace matchrdma::planner {

/// Chance that exactly x of n independent packets are lost, each with chance p in (0, 1).
double binomial(int64_t n, int64_t x, double p);

/// Chance of at most `most` failures before the n-th success, each try failing with chance p. By the continued
/// fraction of the incomplete beta function (NIST DLMF 8.17.22).
double failures_at_most(int64_t n, int64_t most, double p);

/// A number at random, as some values and their weights, which add up to 1.
struct Weighted {
  int64_t value = 0;
  double weight = 0;
};
/// The law of a count with this mean and this variance / mean: negative binomial, Poisson where that is 1 (or
/// less). Where it has more than some hundred likely values, neighbours are put together.
std::vector<Weighted> count_law(double mean, double dispersion);

}  // namespace matchrdma::planner
