#pragma once
// How much memory two proxies may hold, from their limits (law 9), against what they hold.
#include <string>
#include <vector>

#include "dataplane/shard/shard.h"

namespace matchrdma::swarm {

/// One proxy's memory as its counters and views tell it.
struct Holdings {
  Counters counters;
  std::vector<FlowView> flows;
  std::vector<GroupView> groups;
  size_t unpaired = 0;
  uint64_t owned_packets = 0;
  static Holdings of(const Shard& shard, Instant now);
};

/// The first bound that is broken, with its figures; empty when there is none. Does not know the packets
/// themselves.
std::string over_limits(const Holdings& h, const Limits& limits);
/// What a stranger's packets have left behind; empty: nothing. `before` and `after` are of one time, so nothing
/// else came between them.
std::string left_behind(const Holdings& before, const Holdings& after);
/// Most bytes that a proxy's counters do not show: what waits behind gaps of the LAN, and what waits for the
/// end of an old life. Nothing when it is idle.
uint64_t uncounted_bytes(const std::vector<FlowView>& flows, bool busy);

}  // namespace matchrdma::swarm
