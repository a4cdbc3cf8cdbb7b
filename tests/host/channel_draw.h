#pragma once
// Random schedules of channels: everything that a seed decides.
#include "tests/host/channel_rig.h"

namespace matchrdma::host::test {

/// Loss, reorder, duplicates long after, stalls, custody, hosts that look rarely, small queues and windows, QP
/// errors, restarts, paths that die and return, TCP ways that break, torn counters.
ChannelRigSettings draw_channel(uint64_t seed);

}  // namespace matchrdma::host::test
