#pragma once
// A deadline that may move.
#include <cstdint>

#include "sim/event_core.h"

namespace matchrdma::sim {

/// Duty: calls its owner once when the deadline is reached. A deadline that moves back costs no event: the one
/// that is pending looks again. Moves often, so the heap keeps one or two events of it, not one per move.
class Timer final : private EventHandler {
 public:
  Timer(EventCore& core, EventHandler& owner, uint64_t argument)
      : core_(core), owner_(owner), argument_(argument) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// SimTime::never() stops it.
  void set(SimTime deadline) {
    deadline_ = deadline;
    if (deadline < pending_) arm();
  }
  SimTime deadline() const { return deadline_; }

 private:
  void arm() {
    pending_ = deadline_;
    core_.schedule(deadline_, *this, ++generation_);
  }
  void on_event(SimTime now, uint64_t generation) override {
    if (generation != generation_) return;  // an earlier deadline took its place
    pending_ = SimTime::never();
    if (deadline_.is_never()) return;
    if (deadline_ > now) return arm();
    deadline_ = SimTime::never();
    owner_.on_event(now, argument_);
  }

  EventCore& core_;
  EventHandler& owner_;
  uint64_t argument_;
  uint64_t generation_ = 0;
  SimTime deadline_ = SimTime::never();
  SimTime pending_ = SimTime::never();  ///< of the newest event in the core
};

}  // namespace matchrdma::sim
