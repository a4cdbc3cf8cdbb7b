#pragma once
// The period of the capacity, by autocorrelation of the memory (ESTIMATOR 5).
#include <array>
#include <cstdint>

#include "controlplane/estimator/capacity_memory.h"
#include "controlplane/estimator/settings.h"

namespace matchrdma {

/// Duty: looks for a period again and again, a piece of the work per slot, so that no slot has to bear a whole
/// search. One search works on a copy of the memory taken, decimated, in its first slots.
class PeriodSearch {
 public:
  static constexpr int kDecimation = 4;  ///< slots a point
  static constexpr int kPoints = static_cast<int>(CapacityMemory::kSlots) / kDecimation;
  static constexpr int kMaxLag = kPoints / 6;  ///< six periods stand in the memory

  explicit PeriodSearch(const Scale& scale);

  /// One slot's share of the work. True when a search has ended in it.
  bool work(const CapacityMemory& memory);
  /// Slots; 0 if there is none.
  double period() const { return period_; }
  void restart() { *this = PeriodSearch(min_lag_, max_lag_); }

 private:
  enum class Stage : uint8_t { kCopy, kCorrelate };
  PeriodSearch(int min_lag, int max_lag) : min_lag_(min_lag), max_lag_(max_lag) {}

  void begin(const CapacityMemory& memory);
  void copy(const CapacityMemory& memory);
  bool uneven();
  void correlate(int lag);
  bool is_peak(int lag) const;
  double best() const;
  double found() const;

  int min_lag_, max_lag_;  ///< points
  double period_ = 0;
  Stage stage_ = Stage::kCopy;
  int64_t began_ = 0;    ///< slot
  int points_ = 0;       ///< of this search; 0: none has begun
  int64_t first_ = 0;    ///< slot of the first point
  int next_ = 0;         ///< point to copy or lag to correlate
  double variance_ = 0;  ///< sum of squares of all points
  std::array<float, kPoints> at_{};
  std::array<float, kMaxLag + 2> correlation_{};
};

}  // namespace matchrdma
