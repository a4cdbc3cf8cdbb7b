#include "host/planner/chance.h"

#include <algorithm>
#include <cmath>

#include "dataplane/base/check.h"

namespace matchrdma::planner {
namespace {

double log_factorial(double n) { return std::lgamma(n + 1); }

/// The continued fraction of I_x(a, b), by the modified method of Lentz; soon there for x < (a+1)/(a+b+2).
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300, kEnough = 1e-13;
  constexpr int kMostSteps = 2'000'000;  // about the root of the larger of a and b will do
  const auto not_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), all = d;
  for (int i = 1; i < kMostSteps; ++i) {
    const double m = i;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / not_zero(1 + even * d);
    c = not_zero(1 + even / c);
    all *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / not_zero(1 + odd * d);
    c = not_zero(1 + odd / c);
    all *= d * c;
    if (std::abs(d * c - 1) < kEnough) break;
  }
  return all;
}

/// Log of the chance of x in a law of count_law.
class LogCount {
 public:
  LogCount(double mean, double dispersion) : mean_(mean) {
    constexpr double kPoisson = 1e-6;  // nearer to 1 the successes would be too many to count
    if (dispersion - 1 < kPoisson) return;
    successes_ = mean / (dispersion - 1);
    log_success_ = -std::log(dispersion);
    log_failure_ = std::log1p(-1 / dispersion);
  }
  double operator()(double x) const {
    if (successes_ == 0) return x * std::log(mean_) - mean_ - log_factorial(x);
    return std::lgamma(x + successes_) - std::lgamma(successes_) - log_factorial(x) +
           successes_ * log_success_ + x * log_failure_;
  }

 private:
  double mean_, successes_ = 0, log_success_ = 0, log_failure_ = 0;
};

}  // namespace

double binomial(int64_t n, int64_t x, double p) {
  const auto all = static_cast<double>(n), lost = static_cast<double>(x);
  return std::exp(log_factorial(all) - log_factorial(lost) - log_factorial(all - lost) + lost * std::log(p) +
                  (all - lost) * std::log1p(-p));
}

double failures_at_most(int64_t n, int64_t most, double p) {
  if (most < 0) return 0;
  if (p == 0) return 1;
  // I_{1-p}(n, most + 1) = 1 - I_p(most + 1, n)
  const double a = static_cast<double>(most) + 1, b = static_cast<double>(n);
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(p) + b * std::log1p(-p));
  const bool above = p < (a + 1) / (a + b + 2);  // the mean
  if (front == 0) return above ? 1 : 0;
  if (above) return 1 - front * beta_fraction(p, a, b) / a;
  return front * beta_fraction(1 - p, b, a) / b;
}

std::vector<Weighted> count_law(double mean, double dispersion) {
  MRDMA_CHECK(mean >= 0);
  if (mean == 0) return {{0, 1}};
  constexpr double kSpread = 8, kAtLeast = 12, kMostValues = 257;
  const double around =
      kSpread * std::sqrt(mean * std::max(dispersion, 1.0)) + kAtLeast * std::max(dispersion, 1.0);
  const double low = std::max(0.0, std::floor(mean - around)), high = std::ceil(mean + around);
  const double step = std::ceil((high - low + 1) / kMostValues);
  const LogCount log_count(mean, dispersion);
  std::vector<Weighted> law;
  double sum = 0;
  for (double x = low; x <= high; x += step) {
    const double middle = x + std::floor(step / 2), weight = std::exp(log_count(middle));
    if (weight == 0) continue;
    law.push_back({static_cast<int64_t>(middle), weight});
    sum += weight;
  }
  for (Weighted& w : law) w.weight /= sum;
  return law;
}

}  // namespace matchrdma::planner
