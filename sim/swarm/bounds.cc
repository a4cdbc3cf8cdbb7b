#include "sim/swarm/bounds.h"

#include <algorithm>
#include <numeric>

namespace matchrdma::swarm {
namespace {

constexpr uint64_t kLargestFrame = 4352;     ///< path MTU 4096 with all headers
constexpr uint64_t kWaitingForTheEnd = 128;  ///< packets of a flow that wait until its old life is over

std::string above(const char* what, uint64_t value, uint64_t bound) {
  if (value <= bound) return {};
  return std::string(what) + " is " + std::to_string(value) + ", above its bound of " + std::to_string(bound);
}

uint64_t sources(const std::vector<FlowView>& flows) {
  return static_cast<uint64_t>(
      std::count_if(flows.begin(), flows.end(), [](const FlowView& v) { return v.source; }));
}

uint64_t behind_gaps(const std::vector<FlowView>& flows) {
  return std::accumulate(flows.begin(), flows.end(), uint64_t{0},
                         [](uint64_t n, const FlowView& v) { return n + v.behind_gap; });
}

uint64_t backlog(const std::vector<GroupView>& groups) {
  return std::accumulate(groups.begin(), groups.end(), uint64_t{0},
                         [](uint64_t n, const GroupView& g) { return n + g.backlog_bytes; });
}

}  // namespace

Holdings Holdings::of(const Shard& shard, Instant now) {
  return {shard.counters(), shard.flows(), shard.groups(now), shard.unpaired().size(), shard.owned_packets()};
}

std::string over_limits(const Holdings& h, const Limits& l) {
  const Counters& n = h.counters;
  const uint64_t from_here = sources(h.flows), to_here = h.flows.size() - from_here;
  // PROTOCOL 8, memory limit: beyond the hard limit only the reserve of each flow.
  const uint64_t custody = l.custody_hard_bytes + from_here * l.reserve_bytes_per_flow;
  // PROTOCOL 7: a flow may always hold its part of the reserve, and the packet that is next in order.
  const uint64_t reserve = std::min(l.reserve_bytes_per_flow, l.reorder_memory / 4);
  const uint64_t held = l.reorder_memory + to_here * (reserve + kLargestFrame);
  const std::string found[] = {
      above("custody_bytes", n.custody_bytes, custody),
      above("held_bytes", n.held_bytes, held),
      above("gate_bytes", n.gate_bytes, n.custody_bytes),
      above("the backlog of all groups", backlog(h.groups), n.gate_bytes),
      above("gate_bytes", n.gate_bytes, backlog(h.groups)),
      above("custody_bytes", n.custody_bytes, h.owned_packets * kLargestFrame),
      above("custody_packets", n.custody_packets, l.custody_packets),
      above("custody_packets", n.custody_packets, h.owned_packets),
      above("owned packets", h.owned_packets, n.custody_packets),
      above("flows", h.flows.size(), l.max_flows),
      above("groups", h.groups.size(), l.max_groups),
      above("packets behind gaps", behind_gaps(h.flows), from_here * l.lan_gap_packets),
      above("flows that are watched", h.unpaired, l.correlation.streams),
  };
  for (const std::string& s : found) {
    if (!s.empty()) return s;
  }
  return {};
}

std::string left_behind(const Holdings& before, const Holdings& after) {
  const std::string found[] = {
      above("custody_bytes after hostile packets", after.counters.custody_bytes, before.counters.custody_bytes),
      above("held_bytes after hostile packets", after.counters.held_bytes, before.counters.held_bytes),
      above("flows after hostile packets", after.flows.size(), before.flows.size()),
      above("groups after hostile packets", after.groups.size(), before.groups.size()),
      above("flows that are watched after hostile packets", after.unpaired, before.unpaired),
      above("packets behind gaps after hostile packets", behind_gaps(after.flows), behind_gaps(before.flows)),
  };
  for (const std::string& s : found) {
    if (!s.empty()) return s;
  }
  return {};
}

uint64_t uncounted_bytes(const std::vector<FlowView>& flows, bool busy) {
  if (!busy) return 0;
  return (behind_gaps(flows) + sources(flows) * kWaitingForTheEnd) * kLargestFrame;
}

}  // namespace matchrdma::swarm
