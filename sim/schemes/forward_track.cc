#include "sim/schemes/forward_track.h"

#include <algorithm>

namespace matchrdma::sim {

ForwardTrack::Verdict ForwardTrack::on_data(int64_t psn, SimTime now) {
  if (psn < acknowledged_) return {.acknowledge = true};
  if (psn > next_) return {.ask = ask_.may(next_, now)};
  // One that has gone on before may have been lost on the way to the receiver.
  if (psn == next_) ++next_;
  return {.forward = true};
}

void ForwardTrack::on_ack(int64_t expected) {
  acknowledged_ = std::max(acknowledged_, expected);
  next_ = std::max(next_, acknowledged_);
}

bool ForwardTrack::on_nack(int64_t expected, SimTime now) {
  on_ack(expected);
  if (expected < acknowledged_ || expected == next_) return false;
  // The receiver would drop what is behind the gap, so it need not go on.
  next_ = expected;
  return ask_.may(next_, now);
}

}  // namespace matchrdma::sim
