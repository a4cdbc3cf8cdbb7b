#pragma once
// Who sends how much to whom, and when, in workload W3 (SIMULATOR 5).
#include <cstdint>
#include <vector>

#include "sim/sim_time.h"
#include "sim/workload/size_distribution.h"

namespace matchrdma::sim {

struct MixedSettings {
  double load = 0.3;  ///< of the line rate of all hosts together
  SimSpan duration = SimSpan::micros(30'000);
  double inter = 0.5;            ///< share of the messages, so of the bytes, that go to the other site
  uint32_t hosts_per_site = 16;  ///< site A from host 0 on, then site B
  Rate line{100'000'000'000};
  uint32_t qps_per_pair = 4;  ///< at most
  uint64_t seed = 1;
};

struct Arrival {
  SimSpan at;  ///< since the start
  uint32_t source, destination;
  int64_t bytes;
  bool operator==(const Arrival&) const = default;
};

/// Distribution of sizes with straight lines between its knots. It has what the page says of THEMIS's set at
/// 30 %: 8 B to 29.8 MB, median 75 KB, and 3.44 GB in 2133 flows, so a mean of 1.61 MB. The knots between are
/// ours: the density falls from each to the next.
inline constexpr SizeKnot kMixedSizes[]{{8, 0},
                                        {10'000, 0.2},
                                        {75'000, 0.5},
                                        {300'000, 0.62},
                                        {1'200'000, 0.75},
                                        {5'000'000, 0.92},
                                        {12'000'000, 0.9781},
                                        {29'800'000, 1}};

constexpr double mean_mixed_size() { return mean_size(kMixedSizes); }
static_assert(mean_mixed_size() > 0.999 * 3.44e9 / 2133 && mean_mixed_size() < 1.001 * 3.44e9 / 2133);

/// Poisson arrivals in the order of their times. Senders and receivers are drawn evenly among the hosts, so the
/// flows within a site go to the same receivers as those between the sites. Same settings, same list.
std::vector<Arrival> draw_arrivals(const MixedSettings& s);

}  // namespace matchrdma::sim
