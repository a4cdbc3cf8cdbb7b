#pragma once
// Where `now` comes from.
#include <cstdint>

#include "dataplane/base/time.h"

namespace matchrdma::io {

/// Duty: turns the processor's cycle counter into nanoseconds since the clock was made; never goes back. One
/// read costs more than receiving a packet: stamp once per burst, behind the receive call. Needs a started Eal.
class Clock {
 public:
  Clock();
  Instant now() const;

 private:
  static constexpr int kShift = 32;
  uint64_t origin_;
  uint64_t multiplier_;  ///< nanoseconds per cycle, scaled by 2^kShift
};

}  // namespace matchrdma::io
