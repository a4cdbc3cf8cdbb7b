#include "dataplane/destination/reactive_egress.h"

#include <algorithm>

namespace matchrdma {

ReactiveEgress::ReactiveEgress(Rate line, uint64_t resume_below)
    : line_(line), rate_(line), resume_below_(resume_below) {}

void ReactiveEgress::cnp(Rate acked) {
  const int64_t capped = std::clamp<int64_t>(acked.bps, 0, line_.bps);
  // Never to nothing: without egress there is no ACK, and nothing would tell when to go on.
  rate_.bps = std::max(line_.bps / 100, capped / 100 * 85);
  tightened_ = true;
}

void ReactiveEgress::queue(uint64_t bytes) {
  if (bytes >= resume_below_) return;
  rate_ = line_;
  tightened_ = false;
}

}  // namespace matchrdma
