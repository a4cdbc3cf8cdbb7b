#pragma once
// What CNPs do to the egress (ESTIMATOR 9).
#include <cstdint>

#include "dataplane/base/types.h"

namespace matchrdma {

/// Duty: the egress rate of one flow (or of one group, where no flow is told apart). Line rate, until a CNP
/// cuts it below what the receiver takes; line rate again when its network's queue has gone. In integers, so
/// that the egress stage can follow it packet by packet. A sawtooth that probes its way up again would deliver
/// less than the capacity.
class ReactiveEgress {
 public:
  /// resume_below: bytes in the receiver's network below which the rate is the line's again; half of the target
  /// queue.
  ReactiveEgress(Rate line, uint64_t resume_below);

  /// acked: of the last 50 us.
  void cnp(Rate acked);
  /// Estimate of what stands in the receiver's network, bytes: (ack delay - minimum) x acked rate.
  void queue(uint64_t bytes);
  Rate rate() const { return rate_; }
  bool tightened() const { return tightened_; }

 private:
  Rate line_, rate_;
  uint64_t resume_below_;
  bool tightened_ = false;
};

}  // namespace matchrdma
