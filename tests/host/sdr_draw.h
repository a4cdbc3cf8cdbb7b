#pragma once
// Random schedules of SDR: everything that a seed decides.
#include "tests/host/sdr_rig.h"

namespace matchrdma::host::test {

/// Loss 0 to 0.2, reorder, duplicates long after, custody that stalls, hosts that look rarely, restarts,
/// buffers that are used again at once, small queues.
RigSettings draw_sdr(uint64_t seed);

}  // namespace matchrdma::host::test
