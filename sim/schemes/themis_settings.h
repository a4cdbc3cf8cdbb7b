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
  uint32_t first_step = 5;                  ///< alpha at the start
  SimSpan cnp_apart = SimSpan::nanos(5);    ///< closer ones count once
  SimSpan recovery = SimSpan::micros(500);  ///< without a CNP
  bool recovery_resets = false;             ///< alpha becomes 1 instead of half
  uint32_t most_loops = 0;                  ///< less one for each 128 packets in loops; 0: no limit

  /// The branch TON, with its constants but both halves on.
  static constexpr ThemisSettings ton() {
    ThemisSettings s;
    s.first_step = 1;
    s.cnp_apart = SimSpan::nanos(1);
    s.recovery = SimSpan::micros(5'000);
    s.recovery_resets = true;
    s.most_loops = 256;
    return s;
  }
};

}  // namespace matchrdma::sim
