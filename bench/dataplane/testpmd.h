#pragma once
// DPDK's own forwarder, in a process of its own: what the ports and the machine give without a proxy.
#include <cstdint>
#include <string>

#include "dataplane/base/result.h"

namespace matchrdma::dataplane_bench {

struct TestpmdRun {
  std::string mode = "io";  ///< its --forward-mode
  uint32_t frame = 0;       ///< bytes of a frame that net_null makes
  uint32_t cpu = 1, main_cpu = 0;
  uint32_t memory_mib = 256;
  int seconds = 3;
};

/// Packets/s that dpdk-testpmd forwards on `run.cpu` between two net_null ports with copy=1, both ways
/// together: the median of its own figures, one a second. An Error when it cannot be started or says nothing.
Result<double> testpmd_rate(const TestpmdRun& run);

}  // namespace matchrdma::dataplane_bench
