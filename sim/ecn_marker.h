#pragma once
// When a switch marks (SIMULATOR 3, "ECN").
#include <cstdint>

#include "dataplane/base/prng.h"
#include "dataplane/base/types.h"

namespace matchrdma::sim {

/// Marking probability of an egress queue: 0 below least, most_chance at most, 1 above; bytes.
struct EcnSettings {
  int64_t kmin_bytes = 400'000;
  int64_t kmax_bytes = 1'600'000;
  double pmax = 0.2;

  /// HPCC and SimAI at 100 Gb/s; HPCC scales it with the rate of the port.
  static constexpr EcnSettings hpcc(Rate port) {
    const int64_t times_25g = port.bps / 25'000'000'000;
    return {100'000 * times_25g, 400'000 * times_25g, 0.2};
  }
};

/// Duty: decides on one packet at dequeue. queue_bytes: what it leaves behind in its port and class.
class EcnMarker {
 public:
  explicit EcnMarker(const EcnSettings& settings) : s_(settings) {}
  bool marks(int64_t queue_bytes, Prng& prng) const {
    if (queue_bytes <= s_.kmin_bytes) return false;
    if (queue_bytes > s_.kmax_bytes) return true;
    const double share =
        static_cast<double>(queue_bytes - s_.kmin_bytes) / static_cast<double>(s_.kmax_bytes - s_.kmin_bytes);
    return prng.chance(share * s_.pmax);
  }

 private:
  EcnSettings s_;
};

}  // namespace matchrdma::sim
