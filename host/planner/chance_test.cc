#include "host/planner/chance.h"

#include <gtest/gtest.h>

#include <cmath>

namespace matchrdma::planner {
namespace {

TEST(Chance, BinomialIsRightForTinyChances) {
  EXPECT_NEAR(binomial(40, 9, 1e-5) / (273438880 * std::pow(1e-5, 9)), std::pow(1 - 1e-5, 31), 1e-9);
  double sum = 0;
  for (int x = 0; x <= 255; ++x) sum += binomial(255, x, 0.2);
  EXPECT_NEAR(sum, 1, 1e-12);
}

// Sums of n geometric numbers, by their definition.
TEST(Chance, FailuresAreNegativeBinomial) {
  for (const double p : {1e-4, 0.05, 0.2, 0.9}) {
    for (const int64_t n : {1, 5, 300}) {
      double log_term = static_cast<double>(n) * std::log1p(-p), sum = 0;
      for (int64_t l = 0; l < 400; ++l) {
        sum += std::exp(log_term);
        EXPECT_NEAR(failures_at_most(n, l, p), sum, 1e-9) << n << ' ' << l << ' ' << p;
        log_term += std::log(p * static_cast<double>(n + l) / static_cast<double>(l + 1));
      }
    }
  }
  EXPECT_EQ(failures_at_most(10, -1, 0.5), 0);
  EXPECT_EQ(failures_at_most(10, 0, 0), 1);
}

// At the mean of a large count, half: 16 million packets, and the normal law.
TEST(Chance, FailuresOfManyPackets) {
  constexpr int64_t kPackets = 1 << 24;
  const double mean = kPackets * 0.01 / 0.99, deviation = std::sqrt(mean / 0.99);
  EXPECT_NEAR(failures_at_most(kPackets, static_cast<int64_t>(mean), 0.01), 0.5, 2e-3);
  EXPECT_NEAR(failures_at_most(kPackets, static_cast<int64_t>(mean + 2 * deviation), 0.01), 0.97725, 1e-3);
}

TEST(Chance, CountsHaveTheirMeanAndVariance) {
  for (const double mean : {0.0, 1e-6, 0.3, 20.0, 1e4, 1e9})
    for (const double dispersion : {1.0, 1.25, 3.0}) {
      double sum = 0, first = 0, second = 0;
      for (const Weighted& w : count_law(mean, dispersion)) {
        sum += w.weight;
        first += w.weight * static_cast<double>(w.value);
      }
      for (const Weighted& w : count_law(mean, dispersion))
        second += w.weight * std::pow(static_cast<double>(w.value) - first, 2);
      EXPECT_NEAR(sum, 1, 1e-9);
      EXPECT_NEAR(first, mean, 1e-5 * mean + 0.6 * (mean > 1e3)) << mean << ' ' << dispersion;
      EXPECT_NEAR(second, mean * dispersion, 0.02 * mean * dispersion) << mean << ' ' << dispersion;
    }
}

}  // namespace
}  // namespace matchrdma::planner
