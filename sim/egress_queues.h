#pragma once
// The eight queues of a switch port on its way out.
#include <array>
#include <cstdint>

#include "sim/pause_state.h"
#include "sim/sim_packet.h"

namespace matchrdma::sim {

/// Duty: class 0 first, then the others in turn under the pause mask. Does not transmit.
class EgressQueues {
 public:
  void push(SimPacket* p, uint32_t queue) {
    queues_[queue].push(p);
    bytes_ += p->size;
    if (bytes_ > peak_bytes_) peak_bytes_ = bytes_;
  }
  /// What leaves next, or nullptr; `queue` is where it stood.
  SimPacket* pop(const PauseState& pauses, uint32_t& queue) {
    if (!queues_[kControlClass].empty()) {
      queue = kControlClass;
      return take(queue);
    }
    for (uint32_t i = 1; i < kClasses; ++i) {
      queue = 1 + (served_ - 1 + i) % (kClasses - 1);
      if (queues_[queue].empty() || pauses.paused(queue)) continue;
      served_ = queue;
      return take(queue);
    }
    return nullptr;
  }
  int64_t bytes() const { return bytes_; }
  int64_t bytes(uint32_t queue) const { return queues_[queue].bytes(); }
  int64_t peak_bytes() const { return peak_bytes_; }

 private:
  SimPacket* take(uint32_t queue) {
    SimPacket* p = queues_[queue].pop();
    bytes_ -= p->size;
    return p;
  }
  std::array<SimPacketFifo, kClasses> queues_{};
  uint32_t served_ = 1;
  int64_t bytes_ = 0, peak_bytes_ = 0;
};

}  // namespace matchrdma::sim
