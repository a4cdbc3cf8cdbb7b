#pragma once
#include <cstdint>

#include "dataplane/base/types.h"

namespace matchrdma {

/// Bytes that may wait for a receiver behind a line of this rate, where nobody says otherwise: 24 us of it
/// (ESTIMATOR 7).
constexpr uint64_t usual_queue_target(Rate line) {
  constexpr int64_t kLineUs = 24;
  return static_cast<uint64_t>(line.bps / 1'000'000 * kLineUs / 8);
}

}  // namespace matchrdma
