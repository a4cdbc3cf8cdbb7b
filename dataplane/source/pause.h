#pragma once
// Priority flow control towards the LAN while custody is short of memory (PROTOCOL 4, escalation).
#include <array>
#include <cstdint>

#include "dataplane/flow/role_ctx.h"

namespace matchrdma {

/// PFC of one LAN port. Off unless priorities are named: they must be lossless in the LAN.
struct PauseConfig {
  std::array<uint8_t, 6> mac{};  ///< of the LAN port
  uint8_t priorities = 0;        ///< bit n: priority n of IEEE 802.1Q
  uint64_t port_bps = 0;         ///< rate of the LAN port
};

/// Duty: pauses the senders above the soft limit of custody, until an eighth below it. Several shards may share
/// a port, so none of them ever sends a resume: a pause runs out unless it is repeated.
class Pause {
 public:
  explicit Pause(const PauseConfig& config);
  void run(const RoleCtx& ctx);
  Instant next_deadline() const { return next_; }

 private:
  PauseConfig config_;
  uint16_t quanta_ = 0;  ///< of 512 bit times each (IEEE 802.1Q 36.1.3)
  Instant next_ = Instant::never();
};

}  // namespace matchrdma
