#pragma once
// The congested cases of SIMULATOR 10 as tables, and what one seed of ours shows of them.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/test_reference.h"

namespace matchrdma::sim {

/// One printed figure: a single run of the reference code, and the range of 8 seeds of a model that others
/// wrote from the same page (the reference twice where the page gives no range).
struct ReferenceFigure {
  const char* what;
  double percent;  ///< tolerance
  double reference, model_least, model_most;
  double ours = 0;

  double least() const { return std::min(reference, model_least) * (1 - percent / 100); }
  double most() const { return std::max(reference, model_most) * (1 + percent / 100); }
};

inline constexpr double kFctPercent = 3, kQueuePercent = 5;

inline ReferenceFigure fct_us(const char* what, double reference, double least, double most) {
  return {what, kFctPercent, reference, least, most};
}
inline ReferenceFigure queue_kb(double reference, double least, double most) {
  return {"queue KB", kQueuePercent, reference, least, most};
}
inline ReferenceFigure pause_frames(double reference, double least, double most) {
  return {"PAUSEs", kQueuePercent, reference, least, most};
}
/// Not among what section 10 accepts by; the page gives no range either.
inline ReferenceFigure goodput_gbps(double reference) {
  return {"Gb/s", kFctPercent, reference, reference, reference};
}

enum class Congested : uint8_t { kNearSource, kNearDestination };

struct ReferenceCase {
  const char* name;
  Congested where;
  int64_t km;
  std::vector<ReferenceFigure> figures;  ///< near the source: FCT, goodput, queue, PAUSEs; near the
                                         ///< destination: remote and local FCT, goodput, queue
  int64_t buffer_mib = 32;
  ReactionSettings reaction = ReactionSettings::hpcc();
  bool windows = false;
};

inline std::vector<ReferenceCase> reference_cases() {
  constexpr Congested kB = Congested::kNearSource, kC = Congested::kNearDestination;
  const ReactionSettings paper = ReactionSettings::hpcc_paper(), themis = ReactionSettings::themis();
  return {
      {"B dcqcn 1 km",
       kB,
       1,
       {fct_us("FCT us", 12305, 12101, 12333), goodput_gbps(84.5), queue_kb(4067, 3948, 4703),
        pause_frames(0, 0, 0)}},
      {"B dcqcn 100 km",
       kB,
       100,
       {fct_us("FCT us", 17494, 16955, 17830), goodput_gbps(58.7), queue_kb(4974, 4974, 4974),
        pause_frames(2055, 2048, 2113)}},
      {"B dcqcn 1000 km",
       kB,
       1000,
       {fct_us("FCT us", 21144, 21143.9, 21143.9), goodput_gbps(50.8), queue_kb(105494, 105496, 105496),
        pause_frames(0, 0, 0)}},
      {"B dcqcn 1000 km 300 MiB",
       kB,
       1000,
       {fct_us("FCT us", 21144, 21143.6, 21143.6), goodput_gbps(50.8), queue_kb(42396, 42397, 42397),
        pause_frames(2204, 2204, 2204)},
       300},
      {"B dcqcn_paper 1 km",
       kB,
       1,
       {fct_us("FCT us", 10395, 10174, 10736), goodput_gbps(91.6), queue_kb(7957, 7855, 8052),
        pause_frames(0, 0, 0)},
       32,
       paper},
      {"B dcqcn_paper 100 km",
       kB,
       100,
       {fct_us("FCT us", 16159, 16002, 16146), goodput_gbps(65.9), queue_kb(4974, 4975, 4975),
        pause_frames(2154, 2136, 2166)},
       32,
       paper},
      {"B themis 1 km",
       kB,
       1,
       {fct_us("FCT us", 11174, 11129, 11451), goodput_gbps(87.6), queue_kb(2018, 1773, 2032),
        pause_frames(0, 0, 0)},
       32,
       themis,
       true},
      {"B themis 100 km",
       kB,
       100,
       {fct_us("FCT us", 22707, 22364, 24205), goodput_gbps(46.8), queue_kb(4975, 4974, 4974),
        pause_frames(2098, 2135, 2363)},
       32,
       themis,
       true},
      {"C dcqcn 1 km",
       kC,
       1,
       {fct_us("remote us", 14780, 14662, 14988), fct_us("local us", 15153, 14423, 15144), goodput_gbps(84.4),
        queue_kb(6674, 5932, 8474)}},
      {"C dcqcn 100 km",
       kC,
       100,
       {fct_us("remote us", 14487, 14403, 14773), fct_us("local us", 14901, 14878, 14944), goodput_gbps(86.7),
        queue_kb(47567, 45835, 49118)}},
      {"C dcqcn 1000 km",
       kC,
       1000,
       {fct_us("remote us", 21301, 21297, 21304), fct_us("local us", 14175, 14161, 14186), goodput_gbps(63.0),
        queue_kb(107483, 107430, 107522)}},
  };
}

/// For the name of a test.
inline std::string identifier_of(size_t index) {
  std::string name = reference_cases()[index].name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

/// The case with its own figures of one seed. Compatible with the reference throughout: its tick of 1 ns too.
inline ReferenceCase with_seed(ReferenceCase c, uint64_t seed) {
  constexpr int64_t kBytes = 8 << 20;
  constexpr uint32_t kHosts = 4, kQps = 4;
  const bool near = c.where == Congested::kNearSource;
  ReferenceRun run({.km = c.km,
                    .tick = kHpccTick,
                    .long_rate = Rate{near ? 100'000'000'000 : 400'000'000'000},
                    .near_hosts = kHosts,
                    .far_hosts = near ? kHosts : 2,
                    .buffer_bytes = c.buffer_mib << 20,
                    .reaction = c.reaction,
                    .windows = c.windows,
                    .seed = seed});
  // Near the destination host 4 is the local one, which begins when the first bytes of the others come to its
  // switch, and host 5 the receiver: ports 1 and 2 of the far switch.
  constexpr uint32_t kLocal = 4, kReceiver = 5, kReceiverPort = 2;
  std::vector<ReferenceFlow> flows;
  for (uint32_t h = 0; h < kHosts; ++h)
    flows.insert(flows.end(), kQps, {h, near ? kHosts + h : kReceiver, kBytes});
  const size_t remote = flows.size();
  if (!near) flows.insert(flows.end(), kQps, {kLocal, kReceiver, kBytes, SimTime{} + fibre(c.km)});
  const ReferenceResult r =
      run.run(flows, near ? ReferenceRun::kNear : ReferenceRun::kFar, near ? run.long_port() : kReceiverPort);
  const double queue = static_cast<double>(r.peak_queue_bytes) / 1e3;
  c.figures[0].ours = r.mean_fct_us(0, remote);
  c.figures[near ? 1 : 2].ours = r.goodput_gbps;
  c.figures[near ? 2 : 3].ours = queue;
  if (near) {
    c.figures[3].ours = static_cast<double>(r.pauses);
  } else {
    c.figures[1].ours = r.mean_fct_us(remote, flows.size());
  }
  return c;
}

}  // namespace matchrdma::sim
