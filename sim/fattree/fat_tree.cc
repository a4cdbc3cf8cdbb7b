#include "sim/fattree/fat_tree.h"

#include "dataplane/base/check.h"

namespace matchrdma::sim {

FatTree::FatTree(const FatTreeSettings& settings) : s_(settings), network_(kRoceFrames, Tick{}) {
  MRDMA_CHECK(s_.ports >= 2 && s_.ports % 2 == 0);
  add_switches();
  join();
  network_.route();
}

void FatTree::add_switches() {
  SwitchSettings settings;
  settings.buffer.bytes = s_.buffer_per_port * s_.ports;
  const uint32_t switches = 2 * edges() + half() * half();
  for (uint32_t i = 0; i < switches; ++i) {
    // The higher bits tell runs apart, the lower switches.
    settings.seed = s_.seed << 16 | i;
    const uint32_t n = network_.add_switch(settings);
    if (s_.flowlet_gap) network_.switch_node(n).set_flowlets(*s_.flowlet_gap, ~settings.seed);
  }
}

void FatTree::join() {
  for (uint32_t edge = 0; edge < edges(); ++edge)
    for (uint32_t i = 0; i < half(); ++i) network_.join_host(network_.add_host({}), edge, s_.link, s_.ecn);
  LinkSpec dark = s_.link;
  dark.down = {{SimTime{}, SimTime::never()}};
  for (uint32_t pod = 0; pod < s_.ports; ++pod) {
    for (uint32_t i = 0; i < half(); ++i) {
      const uint32_t aggregation = edges() + pod * half() + i;
      for (uint32_t e = 0; e < half(); ++e)
        network_.join_switches(pod * half() + e, aggregation, s_.link, s_.ecn);
      for (uint32_t c = i * half(); c < (i + 1) * half(); ++c)
        network_.join_switches(aggregation, core(c), c == s_.dark_core ? dark : s_.link, s_.ecn);
    }
  }
}

uint32_t FatTree::paths(uint32_t source, uint32_t destination) const {
  if (edge_of(source) == edge_of(destination)) return 1;
  return pod_of(source) == pod_of(destination) ? half() : half() * half();
}

}  // namespace matchrdma::sim
