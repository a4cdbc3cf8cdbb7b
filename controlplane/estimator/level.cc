#include "controlplane/estimator/level.h"

#include <algorithm>

namespace matchrdma {
namespace {

constexpr double kSeenAgain = 1.02;                 // a delay this close to the minimum confirms it
constexpr Duration kDoubt = Duration::seconds(10);  // without confirmation
constexpr int kDrainSlots = 16;                     // besides 2h: until the low budget is seen, and its effect

bool measured(const AckDelays& d) { return d.count > 0 && d.min_ns > 0; }  // no ACK takes no time

}  // namespace

CongestionLevel level_of(const SlotRecord& r, double min_delay_ns) {
  const double mean =
      static_cast<double>(r.ack_delay.sum_ns) / static_cast<double>(std::max<uint64_t>(1, r.ack_delay.count));
  const double d = min_delay_ns > 0 ? mean / min_delay_ns : 1;
  const double cnps = static_cast<double>(r.cnp_count) * 1000, packets = static_cast<double>(r.packets);
  if (d > 3 || cnps > 10 * packets) return CongestionLevel::kHigh;
  return d < 1.5 && (r.cnp_count == 0 || cnps < packets) ? CongestionLevel::kLow : CongestionLevel::kModerate;
}

DelayFloor::DelayFloor(const Scale& scale) : slots_until_doubt_(scale.slots(kDoubt)) {}

void DelayFloor::observe(const AckDelays& d, int64_t slot, int horizon) {
  if (measured(d)) {
    const auto least = static_cast<double>(d.min_ns);
    if (minimum_ns_ == 0 || least <= kSeenAgain * minimum_ns_) last_seen_ = slot;
    minimum_ns_ = minimum_ns_ == 0 ? least : std::min(minimum_ns_, least);
    if (draining()) drain_minimum_ns_ = drain_minimum_ns_ == 0 ? least : std::min(drain_minimum_ns_, least);
  }
  if (draining()) {
    if (slot < drain_end_) return;
    drain_end_ = -1;
    if (drain_minimum_ns_ > 0) minimum_ns_ = drain_minimum_ns_;
    last_seen_ = slot;
  } else if (measured(d) && static_cast<double>(slot - last_seen_) > slots_until_doubt_) {
    drain_end_ = slot + 2 * horizon + kDrainSlots;
    drain_minimum_ns_ = 0;
  }
}

void LevelTracker::observe(const SlotRecord& r, double min_delay_ns) {
  stale_ = !measured(r.ack_delay);
  if (!stale_) level_ = level_of(r, min_delay_ns);
}

}  // namespace matchrdma
