#pragma once
// What a run of the evaluation varies (SIMULATOR 0, 4 to 6, 8).
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "controlplane/estimator/settings.h"
#include "dataplane/flow/policy.h"
#include "sim/frame_sizes.h"
#include "sim/link.h"
#include "sim/schemes/themis_settings.h"
#include "sim/sim_time.h"

namespace matchrdma::sim {

enum class LongHaul : uint8_t {
  kDcqcn,      ///< nothing at the ends of the long link
  kPseudoAck,  ///< unconditional pseudo-ACKs (NTT)
  kThemis,     ///< PNP and TRP
  kMatchRdma,  ///< the daemon's own core
};
inline constexpr LongHaul kLongHauls[]{LongHaul::kDcqcn, LongHaul::kPseudoAck, LongHaul::kThemis,
                                       LongHaul::kMatchRdma};
/// As options and files call it.
const char* scheme_name(LongHaul s);

/// What MatchRDMA does without (issue and ablations).
struct ProxySettings {
  Completion completion = Completion::kEarly;
  std::optional<Scheme> estimator = Scheme::kEarned;  ///< none: budgets fixed at the line rate of a receiver
  bool gate = true;                                   ///< false: a budget that never holds anything back
  bool cnp_proxy = true;                              ///< false: marks cross the long link
  Duration slot = Duration::micros(200);
  bool check_icrc = true;
};

/// Two sites of hosts, leaves and spines, each with one OTN node, and a long link between these.
struct TopologySettings {
  int64_t km = 100;
  uint32_t hosts_per_leaf = 4, leaves = 4, spines = 4;  ///< of each site
  Rate host{100'000'000'000}, leaf_spine{100'000'000'000}, spine_otn{400'000'000'000},
      long_link{1'600'000'000'000};
  SimSpan cable = SimSpan::micros(1);
  double loss = 0;               ///< of the long link, chance of each frame
  std::vector<DownTime> down{};  ///< of the long link
  uint32_t hosts_per_site() const { return hosts_per_leaf * leaves; }
  /// Those of site A by their number, then those of site B.
  std::vector<uint32_t> hosts() const {
    std::vector<uint32_t> all;
    for (uint32_t h = 0; h < 2 * hosts_per_site(); ++h) all.push_back(h);
    return all;
  }
  /// Each step-th host of site A with the one in the same place at site B.
  std::vector<std::pair<uint32_t, uint32_t>> partners(uint32_t step = 1) const {
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    for (uint32_t h = 0; h < hosts_per_site(); h += step) pairs.push_back({h, hosts_per_site() + h});
    return pairs;
  }
};

struct WorldSettings {
  TopologySettings topology{};
  LongHaul scheme = LongHaul::kMatchRdma;
  ProxySettings proxy{};
  ThemisSettings themis{};
  FrameSizes frames = kRoceFrames;
  uint32_t mtu = 4096;                ///< payload bytes of a packet
  int64_t buffer_bytes = 32ll << 20;  ///< of leaves and spines
  int64_t otn_buffer_bytes = 0;       ///< 0: never full, as in the forks (SIMULATOR 3, defect 1)
  uint64_t seed = 1;
};

}  // namespace matchrdma::sim
