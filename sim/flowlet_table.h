#pragma once
// A switch that balances by flowlets (LetFlow, NSDI 2017).
#include <cstdint>
#include <vector>

#include "dataplane/base/prng.h"
#include "sim/sim_time.h"

namespace matchrdma::sim {

/// Duty: remembers for each flow where it went last; after a pause of at least the gap it draws a port anew, at
/// random. A hashed table without check of the key, as switches have it: two flows of one entry go together.
class FlowletTable {
 public:
  FlowletTable(SimSpan gap, uint64_t seed) : gap_(gap), prng_(seed), entries_(kEntries) {}

  /// Index below `ports` of the port for a packet of the flow with that hash.
  uint32_t choose(uint64_t hash, uint32_t ports, SimTime now) {
    Entry& e = entries_[hash % kEntries];
    if (now - e.last >= gap_ || e.port >= ports) e.port = static_cast<uint32_t>(prng_.below(ports));
    e.last = now;
    return e.port;
  }

 private:
  static constexpr size_t kEntries = size_t{1} << 16;
  struct Entry {
    SimTime last{};
    uint32_t port = ~uint32_t{0};
  };
  SimSpan gap_;
  Prng prng_;
  std::vector<Entry> entries_;
};

}  // namespace matchrdma::sim
