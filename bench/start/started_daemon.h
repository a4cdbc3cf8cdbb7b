#pragma once
// A real matchrdmad on ports in memory: how long it takes to be there, and what it takes of the machine.
#include <cstdint>
#include <string>

#include "dataplane/base/result.h"
#include "dataplane/base/time.h"

namespace matchrdma::start_bench {

struct Wanted {
  uint32_t flows = 0;  ///< flow records, two for each QP pair
  uint32_t custody_packets = 0;
  bool huge = true;
};

struct Started {
  Duration ready;     ///< from its start until it tells the service manager READY=1
  Duration answered;  ///< until it answers at its admin socket
  Duration ended;     ///< from SIGTERM until it is gone
  // Bytes of the process when it is ready, as the kernel counts them.
  uint64_t hugepages = 0;  ///< all of what the config gives
  uint64_t anonymous = 0;  ///< of ordinary memory: tables
  uint64_t shared = 0;     ///< the same for packets, where they lie in ordinary memory
  uint64_t files = 0;      ///< journal and programs
  // As it says itself.
  uint64_t pool_packets = 0;
  uint64_t packet_bytes = 0;  ///< of memory for one packet, whatever its size
};

inline constexpr uint32_t kMtu = 4200;             ///< of the LAN: RoCE's 4096 with all its headers
inline constexpr uint32_t kHeldPackets = 1 << 16;  ///< that the destination may keep

/// Starts `program`, measures and ends it. Errors: what it says, where it does not start within `patience` or
/// has less room than wanted.
Result<Started> start_daemon(const std::string& program, const Wanted& wanted, Duration patience);

}  // namespace matchrdma::start_bench
