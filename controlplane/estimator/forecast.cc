#include "controlplane/estimator/forecast.h"

#include <algorithm>
#include <cmath>

namespace matchrdma {
namespace {

constexpr double kMeanNs = 100e6;        // of the jitter predictor
constexpr double kErrorNs = 100e6;       // at least, and at least two periods
constexpr double kErrorAloneNs = 200e6;  // without a period

constexpr size_t of(Predictor p) { return static_cast<size_t>(p); }

double inverse_fourth(double x) {
  const double square = x * x;
  return 1 / (square * square);
}

}  // namespace

// The stable predictor starts trusted, the others have to earn it.
Forecast::Forecast(const Scale& scale, double start)
    : soft_(scale.percent(0.5)), line_(scale.line), floor_(scale.floor), slot_ns_(scale.slot_ns), mean_(start) {
  errors_.fill(scale.percent(3));
  errors_[of(Predictor::kStable)] = scale.percent(0.5);
  weigh(false);
}

void Forecast::learn(const RateSample& s, const Predictions* said, const Outlook& o) {
  mean_ += (o.memory->back() - mean_) * std::min(1.0, slot_ns_ / kMeanNs);
  const bool recurrent = o.recurrence->known();
  if (said != nullptr) {
    const double span = recurrent ? std::max(kErrorNs, 2 * o.recurrence->period() * slot_ns_) : kErrorAloneNs;
    const double gain = std::min(1.0, slot_ns_ / span);
    for (size_t i = 0; i < kPredictors; ++i) {
      const double error = s.saturated() ? std::fabs((*said)[i] - s.rate) : std::max(0.0, s.acked - (*said)[i]);
      errors_[i] += gain * (error - errors_[i]);
    }
  }
  weigh(recurrent);
}

void Forecast::weigh(bool recurrent) {
  double sum = 0;
  for (size_t i = 0; i < kPredictors; ++i) {
    const bool counts = recurrent || (i != of(Predictor::kAligned) && i != of(Predictor::kFixed));
    weights_[i] = counts ? inverse_fourth(errors_[i] + soft_) : 0;
    sum += weights_[i];
  }
  for (double& w : weights_) w /= sum;
}

Predictions Forecast::predict(int ahead, const Outlook& o) const {
  Predictions p;
  p[of(Predictor::kStable)] = o.c;
  p[of(Predictor::kAligned)] = o.recurrence->at_aligned_lags(*o.memory, ahead, o.c);
  p[of(Predictor::kFixed)] = o.recurrence->at_fixed_lags(*o.memory, ahead, o.c);
  p[of(Predictor::kJitter)] = mean_;
  return p;
}

double Forecast::mix(const Predictions& p) const {
  double sum = 0;
  for (size_t i = 0; i < kPredictors; ++i) sum += weights_[i] * p[i];
  return std::clamp(sum, floor_, line_);
}

}  // namespace matchrdma
