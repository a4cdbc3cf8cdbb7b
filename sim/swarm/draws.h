#pragma once
// Draws that the schedules of both kinds share.
#include "dataplane/base/prng.h"
#include "sim/swarm/options.h"

namespace matchrdma::swarm {

/// Connection number `n` of a schedule; `rtt` of the span.
PairOptions random_pair(Prng& r, uint32_t n, Duration rtt);
/// Nothing is lost, moved or refused by the world.
void make_clean(Options& o);

}  // namespace matchrdma::swarm
