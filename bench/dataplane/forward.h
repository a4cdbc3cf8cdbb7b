#pragma once
// The daemon's worker as a mere forwarder, beside DPDK's.
#include <cstdint>
#include <vector>

#include "bench/dataplane/testpmd.h"
#include "dataplane/io/clock.h"
#include "dataplane/io/eal.h"

namespace matchrdma::dataplane_bench {

/// Packets/s of every round, at one size of frames.
struct Forwarded {
  uint32_t frame = 0;
  std::vector<double> worker, io, csum;
};

struct ForwardOptions {
  uint32_t cpu = 1, main_cpu = 0;
  int rounds = 3, seconds = 2;
};

/// net_null ports with copy=1 throughout; its frames are zeros, so the worker has nothing to do with them and
/// passes them. The three take turns. The EAL's core 0 runs the worker.
Result<Forwarded> measure_forwarding(io::Eal& eal, const io::Clock& clock, uint32_t frame,
                                     const ForwardOptions& o);

}  // namespace matchrdma::dataplane_bench
