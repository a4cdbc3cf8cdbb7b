#include "controlplane/estimator/sample.h"

#include <algorithm>

namespace matchrdma {
namespace {

constexpr uint64_t kLeastBusyNs = 20'000;  // less is noise: some 60 packets of 4 KiB at 100 Gb/s
constexpr double kLimited = 0.9;           // of the budget: the rest is the sender's gaps
constexpr double kAlways = 0.9;

}  // namespace

RateSample sample_of(const SlotRecord& r, double governing, const Scale& scale) {
  RateSample s;
  const double took = std::max(scale.slot_ns, static_cast<double>(r.acked_ns));
  s.acked = std::min(scale.line, static_cast<double>(r.acked_bytes) * 8 / took);
  s.rate = s.acked;
  const bool late = r.busy_ns >= kLeastBusyNs;
  // Where both hold it back the receiver is the slower one if its ACKs are late all the time and more waits
  // there than should: those of a slow host are late in between.
  const bool slower = late && static_cast<double>(r.busy_ns) >= kAlways * static_cast<double>(r.acked_ns) &&
                      static_cast<double>(r.unacked_bytes) > scale.q_target;
  const bool held = r.held_ns >= kLeastBusyNs && !slower;
  if (held || late) {
    const auto bytes = static_cast<double>(held ? r.held_bytes : r.busy_acked_bytes);
    s.kind = SampleKind::kSaturated;
    s.rate = std::min(scale.line, bytes * 8 / static_cast<double>(held ? r.held_ns : r.busy_ns));
  }
  s.limited = governing > 0 && scale.rate(static_cast<double>(r.arrived_bytes)) >= kLimited * governing;
  return s;
}

}  // namespace matchrdma
