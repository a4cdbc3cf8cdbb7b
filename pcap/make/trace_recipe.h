#pragma once
// What a made trace is to hold.
#include <cstdint>
#include <functional>
#include <vector>

#include "dataplane/base/result.h"
#include "dataplane/base/time.h"
#include "dataplane/base/types.h"

namespace matchrdma {

enum class TracePattern : uint8_t {
  kTraining,  ///< bursts of a ring all-reduce as NCCL makes them: WRITE and WRITE_WITH_IMM against
              ///< clear-to-send
  kWrite,
  kSend,
  kRead,
  kAtomic,
  kMixed,  ///< every kind, both ways, awkward lengths
};
enum class TraceSetup : uint8_t { kOutOfBand, kCm };
enum class TracePsn : uint8_t { kZero, kRandom };
enum class TraceQpn : uint8_t { kSequential, kRandom };
enum class TracePort : uint8_t {
  kHash,    ///< of both QPNs, the same both ways (kernels and mlx5 without a flow label)
  kFixed,   ///< one for all
  kOwnQpn,  ///< the sender's own QPN
  kPerQp,   ///< random, the same both ways
};
enum class TraceTap : uint8_t { kA, kB };
enum class TraceLossAt : uint8_t { kBeforeTap, kAfterTap };
/// Which packets of a hidden queue pair the capture lacks.
enum class TraceHidden : uint8_t { kBoth, kFromA, kFromB };

struct TraceRecipe {
  TracePattern pattern = TracePattern::kTraining;
  uint32_t qps = 8;      ///< queue pairs of one pair of hosts
  uint32_t hosts = 1;    ///< pairs of hosts
  uint32_t message = 0;  ///< bytes; 0: usual_message()
  /// Each iteration computes, then sends a burst on every queue pair. Ends after so many (0: no bound) or when
  /// the next burst would begin after `duration` (0: no bound), whichever comes first; what is under way is
  /// finished.
  uint32_t iterations = 0;
  Duration compute = Duration::millis(150), duration = Duration::seconds(2);
  uint32_t path_mtu = 1024;
  Rate rate{100'000'000'000};                  ///< of every NIC
  double distance_km = 0;                      ///< between the two sites
  Duration lan_latency = Duration::micros(2);  ///< host to the edge of its site, one way
  double loss = 0;                             ///< per packet, either way
  TraceLossAt loss_at = TraceLossAt::kAfterTap;
  double ecn = 0;  ///< packets with payload that a switch before the tap marks
  TraceSetup setup = TraceSetup::kOutOfBand;
  TracePsn psn = TracePsn::kZero;
  TraceQpn qpn = TraceQpn::kSequential;
  TracePort source_port = TracePort::kHash;
  Duration join_after{};  ///< the capture begins so late
  double hide = 0;        ///< fraction of the queue pairs that the capture does not show
  TraceHidden hide_direction = TraceHidden::kBoth;
  /// Half way all connections end, and their QPNs live again with other partners and (TracePsn::kRandom) other
  /// PSNs; each life gets `iterations` and half of `duration`.
  bool reuse = false;
  bool ipv6 = false;
  std::vector<uint16_t> vlans{};  ///< ids, outer first, at most two
  TraceTap tap = TraceTap::kA;
  uint64_t seed = 1;
  /// Told now and then how much virtual time has passed.
  std::function<void(Duration)> progress{};
};

/// Bytes of one message of this pattern when nothing else is said.
uint32_t usual_message(TracePattern pattern);
/// Names the option of `matchrdma trace make`, its value and the remedy.
Result<void> check_recipe(const TraceRecipe& r);

/// Light in fibre: 5 us per km.
inline Duration one_way(const TraceRecipe& r) { return {static_cast<int64_t>(r.distance_km * kNanosPerKm)}; }
inline uint32_t lives(const TraceRecipe& r) { return r.reuse ? 2 : 1; }
inline uint32_t message_bytes(const TraceRecipe& r) {
  return r.message == 0 ? usual_message(r.pattern) : r.message;
}
/// Messages follow each other through so many places of the receiver's memory.
inline constexpr uint32_t kSlots = 2;
/// Site (0: A) whose host sends the data of a queue pair.
inline int sending_side(const TraceRecipe& r, uint32_t qp_index) {
  return r.pattern == TracePattern::kTraining ? static_cast<int>(qp_index % 2) : 0;
}

}  // namespace matchrdma
