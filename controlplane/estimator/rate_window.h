#pragma once
// Windows of slots with one rate (ESTIMATOR 3; paper, "stable recurrent rate-window identification").
#include <cstdint>

namespace matchrdma {

enum class WindowKind : uint8_t {
  kNone,       ///< nothing is proven: a censored slot
  kJitter,     ///< jitter-dominated: too short or too uneven
  kStable,     ///< 8 slots or more, coefficient of variation at most 0.15
  kRecurrent,  ///< stable, and one period ago the rate was the same
};

/// Duty: the run of saturated slots between jumps.
class RateWindow {
 public:
  /// jump: this slot is the first of another window.
  void add(double rate, bool jump);
  void end() { *this = {}; }
  /// before: the rate one period ago, Gb/s; 0 where no period is known.
  WindowKind kind(double before) const;
  int64_t slots() const { return n_; }
  double mean() const { return n_ > 0 ? sum_ / static_cast<double>(n_) : 0; }

 private:
  int64_t n_ = 0;
  double sum_ = 0, squares_ = 0;
};

}  // namespace matchrdma
