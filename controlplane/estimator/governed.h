#pragma once
// What was said about slots to come, kept until they come.
#include <array>
#include <cstdint>

#include "controlplane/estimator/forecast.h"
#include "controlplane/estimator/settings.h"

namespace matchrdma {

/// Duty: per slot to come the budget that governs it, its forecast and its predictions. When the horizon grows,
/// the slots between are governed by the budget before; when it shrinks, by the newest.
class Governed {
 public:
  /// What was said for one slot.
  struct Said {
    float budget = 0;    ///< Gb/s
    float forecast = 0;  ///< Gb/s; 0: none was made for just this slot
    std::array<float, kPredictors> predictions{};
  };

  /// Budget of a slot, Gb/s; 0 if none was sent that governs it.
  double budget(int64_t slot) const { return in(slot) ? static_cast<double>(at(slot).budget) : 0; }
  /// Forecast of a slot, or `otherwise`.
  double forecast(int64_t slot, double otherwise) const;
  /// False if none were made for the slot.
  bool predictions(int64_t slot, Predictions& p) const;
  /// now: the slot that has just ended. What was said about slots at or before it is forgotten.
  void say(int64_t now, int horizon, double budget, double forecast, const Predictions& p);

 private:
  static constexpr int64_t kSlots = 2 * kMaxHorizon;
  bool in(int64_t slot) const { return slot >= begin_ && slot < end_; }
  Said& at(int64_t slot) { return at_[static_cast<size_t>(slot & (kSlots - 1))]; }
  const Said& at(int64_t slot) const { return at_[static_cast<size_t>(slot & (kSlots - 1))]; }

  int64_t begin_ = 0, end_ = 0;
  std::array<Said, kSlots> at_{};
};

}  // namespace matchrdma
