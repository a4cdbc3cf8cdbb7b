#pragma once
// The far end of a flow with pseudo-ACKs: what has gone on to the receiver (SIMULATOR 6).
#include <cstdint>

#include "sim/schemes/ask_once.h"
#include "sim/sim_time.h"

namespace matchrdma::sim {

/// Duty: lets packets of the long link through in order and says what the near device is to be told. A pure
/// object. Keeps no packets: what is lost behind it comes over the long link again.
class ForwardTrack {
 public:
  struct Verdict {
    bool forward = false;
    bool ask = false;          ///< the near device is to send again from expected()
    bool acknowledge = false;  ///< and is to be told acknowledged() once more
  };

  /// round_trip: to the near device, in which an answer to what was asked can be here.
  explicit ForwardTrack(SimSpan round_trip) : ask_(round_trip) {}

  Verdict on_data(int64_t psn, SimTime now);
  void on_ack(int64_t expected);
  /// True: the near device is to send again from expected().
  bool on_nack(int64_t expected, SimTime now);

  int64_t expected() const { return next_; }
  int64_t acknowledged() const { return acknowledged_; }  ///< by the receiver

 private:
  int64_t next_ = 0;  ///< PSN to come next over the long link
  int64_t acknowledged_ = 0;
  AskOnce ask_;
};

}  // namespace matchrdma::sim
