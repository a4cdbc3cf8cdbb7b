#pragma once
// What the queue pairs of one pair of hosts post during a burst.
#include <memory>
#include <vector>

#include "dataplane/base/prng.h"
#include "model/host.h"
#include "pcap/make/trace_recipe.h"

namespace matchrdma {

/// A connected queue pair and where its requests may write.
struct Lane {
  model::QpPair qps;
  model::MemoryConfig memory_a, memory_b;
};

/// Duty: posts work requests until `target` messages, counted since the connection began, are done on a lane.
/// Does not know when bursts begin.
class Burst {
 public:
  virtual ~Burst() = default;
  /// Posts what may go now.
  virtual void feed(size_t lane, uint64_t target, Instant now) = 0;
  virtual bool complete(size_t lane, uint64_t target) const = 0;
};

/// The kind that the pattern of `r` wants. `r` and `lanes` must outlive it.
std::unique_ptr<Burst> make_burst(const TraceRecipe& r, std::vector<Lane>& lanes, uint64_t seed);

}  // namespace matchrdma
