#pragma once
// Which fanout group of the kernel net_af_packet joins. No DPDK.
#include <cstdint>

namespace matchrdma::io {

/// The driver numbers the group of a port by getpid() ^ ifindex, 16 bits. Two processes with neighbouring
/// numbers on neighbouring interfaces come to one number, and the second is refused (packet(7), PACKET_FANOUT:
/// EINVAL). While this object lives, getpid() as seen by libraries is another number in this thread, so that
/// the driver comes to another group; `attempt` 0 changes nothing.
class FanoutNumber {
 public:
  explicit FanoutNumber(uint32_t attempt);
  ~FanoutNumber();
  FanoutNumber(const FanoutNumber&) = delete;
  FanoutNumber& operator=(const FanoutNumber&) = delete;
};

}  // namespace matchrdma::io
