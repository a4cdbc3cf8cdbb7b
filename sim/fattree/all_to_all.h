#pragma once
// Who sends how much to whom, and when, in the fat tree: any host to any other, Poisson arrivals.
#include <cstdint>
#include <span>
#include <vector>

#include "sim/sim_time.h"
#include "sim/workload/mixed_traffic.h"
#include "sim/workload/size_distribution.h"

namespace matchrdma::sim {

/// Flow sizes of Alibaba's distributed storage, collected in 2019 (Li et al., HPCC, SIGCOMM 2019): the public
/// file traffic_gen/AliStorage2019.txt of alibaba-edu/High-Precision-Congestion-Control (commit fe18e47).
/// RDMACell's "AliCloud Storage".
inline constexpr SizeKnot kAliStorage2019[]{
    {0, 0},           {4'000, 0.2293},   {8'000, 0.6921},   {16'000, 0.8061}, {32'000, 0.9047},
    {64'000, 0.9353}, {128'000, 0.9677}, {256'000, 0.9753}, {2'000'000, 1}};

/// Requests of Alibaba's Solar storage network (Miao et al., SIGCOMM 2022): the public file
/// traffic_gen/Solar2022.txt of conweave-project/conweave-ns3 (commit 74fa3b2), whose steps of one byte (4095
/// to 4096) are jumps here. RDMACell's "Solar".
inline constexpr SizeKnot kSolar2022[]{{0, 0},        {4'096, 0.00001}, {4'096, 0.3},   {16'384, 0.35},
                                       {16'384, 0.5}, {65'536, 0.6},    {65'536, 0.95}, {262'144, 1}};

struct AllToAllSettings {
  std::span<const SizeKnot> sizes;
  uint32_t hosts = 128;
  double load = 0.8;  ///< payload sent, of the line rate of all hosts
  Rate line{100'000'000'000};
  SimSpan duration = SimSpan::micros(10'000);
  uint64_t seed = 1;
};

/// On the average of seeds.
double mean_arrivals(const AllToAllSettings& s);
/// In the order of their times. Source and destination are drawn evenly. Same settings, same list.
std::vector<Arrival> draw_all_to_all(const AllToAllSettings& s);

}  // namespace matchrdma::sim
