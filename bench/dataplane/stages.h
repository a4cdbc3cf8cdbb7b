#pragma once
// What the first steps of every packet cost by themselves: parsing, the flow, the ICRC.
#include <vector>

#include "bench/dataplane/traffic.h"
#include "dataplane/base/result.h"

namespace matchrdma::dataplane_bench {

/// TSC cycles per packet of every round, in order.
struct Stages {
  std::vector<double> parse, lookup, icrc;
};

/// The packets of `o`, freshly written into buffers that come in turn, in bursts of a worker: each burst is
/// parsed, its flows are found in a table that holds both directions of all, its ICRCs are checked, memory
/// brought ahead as the Shard does. `rounds` of `phase` packets, a multiple of a burst. Each figure holds two
/// cycles of the reading of the time. An Error when a packet is not what it should be.
Result<Stages> measure_stages(const TrafficOptions& o, uint32_t phase, int rounds);

}  // namespace matchrdma::dataplane_bench
