#pragma once
// What one pseudo-ACK costs to make.
#include <vector>

#include "dataplane/io/mbuf_pool.h"

namespace matchrdma::dataplane_bench {

/// Cycles of the time stamp counter for each ACK, of many batches: a buffer is taken, filled (wire/ack_frame.h)
/// and given back.
std::vector<double> ack_cycles(io::MbufPool& pool);

}  // namespace matchrdma::dataplane_bench
