#pragma once
// What one core costs another: the parts that cores_bench puts together.
#include <array>
#include <cstdint>
#include <vector>

#include "bench/statistics.h"
#include "dataplane/base/result.h"
#include "dataplane/base/time.h"
#include "dataplane/io/clock.h"
#include "dataplane/io/eal.h"
#include "dataplane/wire/frame_builder.h"

namespace matchrdma::cores_bench {

inline constexpr uint32_t kBurst = 32;

/// A WRITE packet from host `a` to host `b` of two sites, in a packet of `pool`.
PacketRef write_packet(uint8_t a, uint8_t b, uint32_t qpn, uint32_t payload, PacketPool& pool);

/// ns per packet.
struct Handover {
  double kept = 0;   ///< sorted, and its owner is who received it
  double given = 0;  ///< sorted, and put into another worker's ring
  double taken = 0;  ///< out of the ring, its header read and the packet given back
};
/// One worker receives and the other one owns: medians of `rounds` of `packets` of each kind.
Result<Handover> measure_handover(io::Eal& eal, const io::Clock& clock, int rounds, uint64_t packets);

/// ns each.
struct Mail {
  double empty = 0;    ///< a look into an empty mailbox
  double post = 0;     ///< of one job, by another core
  double arrives = 0;  ///< from before the post until the job runs
};
Mail measure_mailbox(io::Eal& eal, const io::Clock& clock, uint32_t jobs);

struct Forwarding {
  std::array<double, 2> alone{};     ///< packets/s of each worker while the other one rests
  std::array<double, 2> together{};  ///< while both work
  double report = 0;                 ///< ns that a worker spends on one report
  double flow = 0;                   ///< ns that it spends on one flow of a list
};
/// Two workers with ports and packets of their own, all in memory: the best of `rounds` of `round` each, since
/// whatever else runs on these cores only takes.
Result<Forwarding> measure_forwarding(io::Eal& eal, const io::Clock& clock, int rounds, Duration round);

}  // namespace matchrdma::cores_bench
