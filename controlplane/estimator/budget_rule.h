#pragma once
// From a forecast to a budget: what has been tested, what is in flight, what waits (ESTIMATOR 6, 7).
#include <array>
#include <cstdint>

#include "controlplane/estimator/governed.h"
#include "controlplane/estimator/settings.h"
#include "dataplane/base/time.h"

namespace matchrdma {

/// Forecast of the slots k + 1 to k + h. Beyond 64 slots a point stands for several, so that a long span costs
/// no more than a short one.
struct Curve {
  static constexpr int kMaxPoints = 64;

  explicit Curve(int h) : horizon(h), stride((h + kMaxPoints - 1) / kMaxPoints) {}
  /// Points 0 to points() - 1 cover the slots before k + h: point i those from k + 1 + i * stride.
  int points() const { return (horizon - 1 + stride - 1) / stride; }
  int slots_of(int point) const { return point + 1 < points() ? stride : horizon - 1 - point * stride; }
  /// Slots ahead at which to ask for the point's rate: its middle.
  int ahead_of(int point) const { return 1 + point * stride + (slots_of(point) - 1) / 2; }

  int horizon, stride;
  std::array<double, kMaxPoints> rate{};  ///< Gb/s, by point
  double at_horizon = 0;                  ///< R_h, Gb/s
};

/// Duty: the most that a budget may allow, since a sender that was idle must not burst into a capacity that
/// nobody has tested: 25 % of the line, or twice the highest acked rate, which decays within a second.
class TestedRate {
 public:
  explicit TestedRate(const Scale& scale);
  /// slots: passed since the last call; acked: Gb/s.
  void observe(double acked, int64_t slots);
  double limit() const;

 private:
  double least_, keep_, highest_ = 0;
};

/// Bytes that will wait when the budget made now begins to govern. queued: bytes now; now: slot that has ended.
double projected_queue(double queued, int64_t now, const Curve& curve, const Governed& governed,
                       const Scale& scale);

/// Gb/s within [floor, line]. forecast: of the slot it governs; waiting: projected_queue().
double budget_for(double forecast, double waiting, Duration one_way, bool draining, const Scale& scale);

/// How long a source may follow a budget without hearing the next one.
Duration budget_validity(Duration slot);

}  // namespace matchrdma
