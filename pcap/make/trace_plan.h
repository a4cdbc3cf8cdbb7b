#pragma once
// Who talks to whom under which numbers.
#include <vector>

#include "model/cm_agent.h"
#include "model/host.h"
#include "pcap/make/trace_recipe.h"
#include "pcap/make/trace_truth.h"

namespace matchrdma {

/// Duty: chooses addresses, QPNs, PSNs, ports and what stays hidden. Depends on the recipe alone, not on what
/// happens.
class TracePlan {
 public:
  explicit TracePlan(const TraceRecipe& r);

  /// The connections of one pair of hosts in one life; times and counts are still open.
  std::vector<TracePair> connections(uint32_t host_pair, uint32_t life) const;
  /// The same for the model; `index` is the place among connections().
  model::PairConfig config(const TracePair& p, uint32_t index) const;
  /// Communication ids are `side`'s own; every connection has two.
  model::CmEndpoint cm_endpoint(const TracePair& p, uint32_t index, int side) const;
  uint32_t cm_id(const TracePair& p, uint32_t index, int side) const;

 private:
  L2L3 path(uint32_t host_pair, int side) const;
  uint64_t serial(uint32_t host_pair, uint32_t life, uint32_t index) const;
  void choose_qpns();
  void choose_hidden();
  uint16_t port(const TracePair& p, uint64_t serial, int side) const;

  const TraceRecipe& r_;
  std::vector<std::vector<Qpn>> qpns_[2];  ///< per side, host pair and index
  std::vector<bool> hidden_;               ///< per host pair and index
  uint16_t fixed_port_;
};

}  // namespace matchrdma
