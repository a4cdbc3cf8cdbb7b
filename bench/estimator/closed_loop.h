#pragma once
// A fluid model of one receiver behind a span, closed over a contender's budgets.
#include <cstdint>
#include <functional>
#include <string>

#include "bench/estimator/contender.h"
#include "bench/estimator/series.h"

namespace matchrdma::estimator_bench {

struct LoopOptions {
  Duration slot = Duration::micros(200);
  Duration one_way{};
};

/// What one run says, after the warm-up.
struct LoopResult {
  double weighted_error = 0;        ///< %: sum of |R_h - c| / sum of c
  double utilisation = 0;           ///< %: delivered / delivered with an unlimited sender
  double peak_mb = 0, mean_mb = 0;  ///< of the destination's queue
  double bound_mb = 0;  ///< the paper's: most that came in within 2D + 2 slots beyond what could leave
  std::string broken;   ///< a slot in which bytes were not conserved; empty if none
};

/// One slot, for the picture. Gb/s, MB.
struct LoopSlot {
  double ms, capacity, forecast, budget, backlog;
};

/// Capacity and forecast are of the slot that the budget governs and stand at its time.
LoopResult run_loop(const Series& series, const LoopOptions& options, Contender& contender,
                    std::vector<LoopSlot>* trace = nullptr);

}  // namespace matchrdma::estimator_bench
