#pragma once
// Four predictors, weighted by what their own forecasts were worth (ESTIMATOR 6).
#include <array>
#include <cstdint>

#include "controlplane/estimator/capacity_memory.h"
#include "controlplane/estimator/recurrence.h"
#include "controlplane/estimator/sample.h"
#include "controlplane/estimator/settings.h"

namespace matchrdma {

enum class Predictor : uint8_t {
  kStable,   ///< c
  kAligned,  ///< median of four periods at aligned lags
  kFixed,    ///< the same at multiples of the period
  kJitter,   ///< mean of the last 100 ms
};
inline constexpr size_t kPredictors = 4;
/// Gb/s, by Predictor.
using Predictions = std::array<double, kPredictors>;

/// What predictors look at. Slot end() - 1 of the memory is now.
struct Outlook {
  const CapacityMemory* memory;
  const Recurrence* recurrence;
  double c;
};

/// Duty: the forecast of any slot to come. Weights are per predictor, so many recent slots cannot outvote four
/// periods.
class Forecast {
 public:
  explicit Forecast(const Scale& scale, double start);

  /// A slot has ended. said: what was predicted for it h slots ago, or nullptr.
  void learn(const RateSample& s, const Predictions* said, const Outlook& o);
  Predictions predict(int ahead, const Outlook& o) const;
  /// Weighted mean, Gb/s.
  double mix(const Predictions& p) const;
  double at(int ahead, const Outlook& o) const { return mix(predict(ahead, o)); }

  /// Add up to 1.
  const std::array<double, kPredictors>& weights() const { return weights_; }
  /// Own mean absolute errors at the horizon, Gb/s.
  const Predictions& errors() const { return errors_; }

 private:
  void weigh(bool recurrent);

  double soft_, line_, floor_, slot_ns_;
  double mean_;
  Predictions errors_;
  std::array<double, kPredictors> weights_{};
};

}  // namespace matchrdma
