#pragma once
// The parameters of THEMIS (SIMULATOR 6).
#include <cstdint>

#include "sim/sim_time.h"

namespace matchrdma::sim {

/// Defaults are those of the public code's head, both halves on; TON is the branch of that name.
struct ThemisSettings {
  bool pnp = true, trp = true;
  SimSpan cnp_delay = SimSpan::micros(2);  ///< from the mark to the CNP
  SimSpan cnp_gap = SimSpan::micros(5);    ///< between CNPs of one flow
  SimSpan loop_delay = SimSpan::nanos(100);
  Rate loop_rate{1'600'000'000'000};
  uint32_t first_step = 5;                      ///< alpha at the start; TON: 1
  SimSpan cnp_apart = SimSpan::nanos(5);        ///< closer ones count once; TON: 1 ns
  SimSpan recovery = SimSpan::micros(500);      ///< without a CNP; TON: 5 ms
  bool recovery_resets = false;                 ///< alpha becomes 1 instead of half; TON
};

}  // namespace matchrdma::sim
