#pragma once
// A NACK names the same packet once in a while only.
#include <cstdint>

#include "sim/sim_time.h"

namespace matchrdma::sim {

/// Duty: says whether a packet may be asked for, and notes that it was.
class AskOnce {
 public:
  explicit AskOnce(SimSpan gap) : gap_(gap) {}
  bool may(int64_t psn, SimTime now) {
    if (psn == asked_ && now < again_at_) return false;
    asked_ = psn;
    again_at_ = now + gap_;
    return true;
  }

 private:
  SimSpan gap_;
  int64_t asked_ = -1;
  SimTime again_at_{};
};

}  // namespace matchrdma::sim
