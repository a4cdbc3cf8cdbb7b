#pragma once
// The network of RDMACell's evaluation: a fat tree of switches with K ports.
#include <cstdint>
#include <optional>

#include "sim/network.h"

namespace matchrdma::sim {

struct FatTreeSettings {
  uint32_t ports = 8;                   ///< K of each switch, even: K pods, K^3/4 hosts
  LinkSpec link{};                      ///< all alike: 100 Gb/s, 1 us
  int64_t buffer_per_port = 2'000'000;  ///< bytes; a switch shares those of all its ports
  EcnSettings ecn{.kmin_bytes = 100'000, .kmax_bytes = 400'000, .pmax = 0.2};
  std::optional<SimSpan> flowlet_gap{};  ///< LetFlow; none: ECMP
  std::optional<uint32_t>
      dark_core{};  ///< no frame gets over the links of that switch of the core, counted from 0
  uint64_t seed = 1;
  uint32_t hosts() const { return ports * ports * ports / 4; }
};

/// Duty: builds the network. Hosts are numbered by pod, in it by edge switch. Edge switches come first, then
/// those of the aggregation, then the core; the i-th of a pod's aggregation reaches the i-th K/2 of the core.
class FatTree {
 public:
  explicit FatTree(const FatTreeSettings& settings);

  Network& network() { return network_; }
  const Network& network() const { return network_; }
  uint32_t half() const { return s_.ports / 2; }
  uint32_t edge_of(uint32_t host) const { return host / half(); }
  uint32_t pod_of(uint32_t host) const { return host / (half() * half()); }
  uint32_t core(uint32_t i) const { return 2 * edges() + i; }  ///< number of the switch
  uint32_t edges() const { return s_.ports * half(); }
  /// Shortest paths from one host to another.
  uint32_t paths(uint32_t source, uint32_t destination) const;

 private:
  void add_switches();
  void join();

  FatTreeSettings s_;
  Network network_;
};

}  // namespace matchrdma::sim
