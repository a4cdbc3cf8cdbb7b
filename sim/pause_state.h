#pragma once
// Which classes of a port the other end has paused (PFC), and for how long.
#include <array>
#include <cstdint>

#include "sim/sim_packet.h"
#include "sim/sim_time.h"

namespace matchrdma::sim {

/// Duty: the pause mask of one egress. A pause holds until RESUME, there are no quanta (SIMULATOR 3).
class PauseState {
 public:
  bool paused(uint32_t traffic_class) const { return classes_[traffic_class].paused; }
  void apply(uint32_t traffic_class, bool pause, SimTime now) {
    Class& c = classes_[traffic_class];
    if (c.paused == pause) return;
    c.paused = pause;
    if (pause) {
      c.since = now;
    } else {
      c.total = c.total + (now - c.since);
    }
  }
  /// Time that the class has been paused up to `now`.
  SimSpan paused_for(uint32_t traffic_class, SimTime now) const {
    const Class& c = classes_[traffic_class];
    return c.paused ? c.total + (now - c.since) : c.total;
  }

 private:
  struct Class {
    bool paused = false;
    SimTime since{};
    SimSpan total{};
  };
  std::array<Class, kClasses> classes_{};
};

}  // namespace matchrdma::sim
