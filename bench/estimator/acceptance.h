#pragma once
// The acceptance table (docs/estimator.md): what the closed loop must reach.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/estimator/closed_loop.h"
#include "bench/estimator/contender.h"
#include "bench/estimator/series.h"

namespace matchrdma::estimator_bench {

inline constexpr std::array<Duration, 3> kDelays{Duration::micros(5), Duration::micros(500),
                                                 Duration::millis(5)};

/// Peak of the worst seed, the rest as means over seeds.
struct Figures {
  double error = 0;                 ///< %, at most; below 0 in a bound: nobody could have known
  double utilisation = 0;           ///< %, at least
  double peak_mb = 0, mean_mb = 0;  ///< at most
};

struct Cell {
  Figures got;
  double bound_mb = 0;  ///< the paper's buffer for this, worst seed
  int runs = 0;
  std::string broken;
  void add(const LoopResult& r);
};

/// bounds: by row of rows() and by delay.
const Figures& required(size_t row, size_t delay);
/// The names of what is missed, or "ok".
std::string verdict(const Cell& c, const Figures& required);
/// All seeds of one cell, for each contender.
std::vector<Cell> run_cell(const Row& row, Duration one_way, Duration slot, uint64_t seeds,
                           const std::vector<ContenderKind>& kinds);

}  // namespace matchrdma::estimator_bench
