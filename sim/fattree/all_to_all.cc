#include "sim/fattree/all_to_all.h"

#include <cmath>

#include "dataplane/base/check.h"
#include "dataplane/base/prng.h"

namespace matchrdma::sim {

double mean_arrivals(const AllToAllSettings& s) {
  const double bytes_per_second = s.load * s.hosts * static_cast<double>(s.line.bps) / 8;
  return bytes_per_second / mean_size(s.sizes) * static_cast<double>(s.duration.ps) / 1e12;
}

std::vector<Arrival> draw_all_to_all(const AllToAllSettings& s) {
  MRDMA_CHECK(s.load > 0 && s.hosts >= 2);
  const double mean_gap_ps = static_cast<double>(s.duration.ps) / mean_arrivals(s);
  Prng prng(s.seed);
  std::vector<Arrival> all;
  for (double at = 0;;) {
    at -= std::log(1 - prng.unit()) * mean_gap_ps;
    if (at >= static_cast<double>(s.duration.ps)) return all;
    const auto source = static_cast<uint32_t>(prng.below(s.hosts));
    const auto destination = (source + 1 + static_cast<uint32_t>(prng.below(s.hosts - 1))) % s.hosts;
    all.push_back({{static_cast<int64_t>(at)}, source, destination, draw_size(s.sizes, prng)});
  }
}

}  // namespace matchrdma::sim
