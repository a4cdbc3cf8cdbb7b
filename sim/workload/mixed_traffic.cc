#include "sim/workload/mixed_traffic.h"

#include <cmath>

#include "dataplane/base/check.h"
#include "dataplane/base/prng.h"

namespace matchrdma::sim {
std::vector<Arrival> draw_arrivals(const MixedSettings& s) {
  MRDMA_CHECK(s.load > 0 && s.hosts_per_site >= 2);
  const uint32_t n = s.hosts_per_site;
  const double bytes_per_second = s.load * 2 * n * static_cast<double>(s.line.bps) / 8;
  const double mean_gap_ps = mean_mixed_size() / bytes_per_second * 1e12;
  Prng prng(s.seed);
  std::vector<Arrival> all;
  for (double at = 0;;) {
    at -= std::log(1 - prng.unit()) * mean_gap_ps;
    if (at >= static_cast<double>(s.duration.ps)) return all;
    const bool inter = prng.chance(s.inter);
    const auto destination = static_cast<uint32_t>(prng.below(2 * n));
    const uint32_t own_site = destination / n * n;
    uint32_t source = 0;
    if (inter) {
      source = n - own_site + static_cast<uint32_t>(prng.below(n));
    } else {
      // Any other host of the site.
      source = own_site + (destination - own_site + 1 + static_cast<uint32_t>(prng.below(n - 1))) % n;
    }
    all.push_back({{static_cast<int64_t>(at)}, source, destination, draw_size(kMixedSizes, prng)});
  }
}

}  // namespace matchrdma::sim
