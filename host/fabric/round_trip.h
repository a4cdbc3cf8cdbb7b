#pragma once
// Round trip times from echoes: the residence at the other end is taken off, so clocks need not agree (H10).
#include <algorithm>

#include "dataplane/base/time.h"

namespace matchrdma::host {

/// RFC 6298's average and deviation, and the least ever seen.
class RoundTrip {
 public:
  explicit RoundTrip(Duration first_guess) : average_(first_guess), deviation_(first_guess / 2) {}
  void add(Duration sample) {
    sample.ns = std::max<int64_t>(sample.ns, 0);
    if (!measured_) {
      average_ = least_ = sample;
      deviation_ = sample / 2;
      measured_ = true;
      return;
    }
    const int64_t off = sample.ns - average_.ns;
    deviation_.ns += (std::abs(off) - deviation_.ns) / 4;
    average_.ns += off / 8;
    least_ = std::min(least_, sample);
  }
  bool measured() const { return measured_; }
  Duration average() const { return average_; }
  Duration deviation() const { return deviation_; }
  Duration least() const { return measured_ ? least_ : average_; }

 private:
  Duration average_, deviation_, least_;
  bool measured_ = false;
};

}  // namespace matchrdma::host
