#pragma once
// How often a packet of a flow goes round in THEMIS's TRP (SIMULATOR 6).
#include <algorithm>
#include <cstdint>

#include "sim/schemes/themis_settings.h"
#include "sim/sim_time.h"

namespace matchrdma::sim {

/// Duty: counts the CNPs of one flow. A pure object; does not hold packets.
class LoopCount {
 public:
  explicit LoopCount(const ThemisSettings& settings) : s_(settings), step_(settings.first_step) {}

  void on_cnp(SimTime now) {
    if (heard_ && now - last_ < s_.cnp_apart) return;
    heard_ = true;
    last_ = now;
    if (marked_ && ++counted_ < step_) return;
    if (marked_) ++step_;
    marked_ = true;
    counted_ = 0;
    ++loops_;
  }
  /// True: no CNP has come for so long that the flow is free again.
  bool recover(SimTime now) {
    if (!marked_ || now < recovers_at()) return false;
    marked_ = false;
    counted_ = 0;
    loops_ = 1;
    step_ = s_.recovery_resets ? 1 : std::max(step_ / 2, 1u);
    return true;
  }
  SimTime recovers_at() const { return marked_ ? last_ + s_.recovery : SimTime::never(); }

  /// Of the next packet, while `looping` packets of all flows are in loops; 0: it is not delayed.
  uint32_t passes(uint32_t looping) const {
    if (!marked_) return 0;
    if (s_.most_loops == 0) return loops_;
    return std::min(loops_, s_.most_loops - std::min(s_.most_loops, looping >> 7));
  }
  uint32_t step() const { return step_; }  ///< alpha

 private:
  ThemisSettings s_;
  uint32_t step_, loops_ = 1, counted_ = 0;
  bool heard_ = false, marked_ = false;
  SimTime last_{};  ///< CNP that was counted
};

}  // namespace matchrdma::sim
