#pragma once
// How many slots ago the last periods were, aligned to what happened since (ESTIMATOR 5): periods jitter and
// drift.
#include <array>
#include <cstdint>

#include "controlplane/estimator/capacity_memory.h"
#include "controlplane/estimator/settings.h"

namespace matchrdma {

/// Duty: for each of the last four periods the lag at which the memory looks most like its newest 0.7 periods.
/// A round takes as many slots as its work needs; lags() are those of the last round that ended.
class AlignedLags {
 public:
  static constexpr int kPeriods = 4;
  using Lags = std::array<int, kPeriods>;  ///< slots; 0 where the memory is too short

  explicit AlignedLags(const Scale& scale) : edge_penalty_(scale.percent(2)) {}

  /// One slot's share of the work. period: slots, above 0.
  void work(const CapacityMemory& memory, double period);
  const Lags& lags() const { return lags_; }
  void restart() { *this = AlignedLags(edge_penalty_); }

 private:
  explicit AlignedLags(double edge_penalty) : edge_penalty_(edge_penalty) {}
  void begin(int64_t end, double period);
  void begin_period();
  void try_offset(const CapacityMemory& memory);
  void end_period();

  double edge_penalty_;  ///< Gb/s at the edge of the search
  Lags lags_{}, next_lags_{};
  bool running_ = false;
  int64_t end_ = 0;    ///< of the newest slots that are compared
  double period_ = 0;  ///< of this round
  int compared_ = 0;   ///< slots
  int stride_ = 1;     ///< of them
  int q_ = 0;          ///< period that is being aligned
  double centre_ = 0;  ///< lag
  int reach_ = 0, offset_ = 0;
  double best_ = 0;
  int best_lag_ = 0;
};

}  // namespace matchrdma
