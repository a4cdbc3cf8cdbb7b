#pragma once
// The parameters of the pseudo-ACK devices (SIMULATOR 6). The public texts give no figures.
#include <cstdint>

#include "sim/link.h"
#include "sim/sim_time.h"

namespace matchrdma::sim {

struct PseudoAckSettings {
  SimSpan proc = SimSpan::micros(2);  ///< from a request to its pseudo-ACK
  int64_t copy_bytes = 0;             ///< most bytes of copies at one device, all flows
  SimSpan round_trip{};               ///< of the long link
  SimSpan timeout{};                  ///< without news of the far receiver, then all copies of a flow go again
  /// Of the copies of one flow. Twice a sender's port: a flow catches up, and a round trip's copies of all
  /// flows do not come to the far site at the rate of the long link.
  Rate resend_rate{200'000'000'000};
  SimSpan nack_gap = SimSpan::micros(50);  ///< between NACKs of the same packet to the sender

  /// Copies of what the link carries in a round trip, and 100 us for the ways within the sites.
  static PseudoAckSettings for_link(const LinkSpec& link) {
    PseudoAckSettings s;
    s.round_trip = link.delay * 2;
    s.copy_bytes = bytes_in(link.rate, s.round_trip + SimSpan::micros(100));
    // Receivers may be paused or stand behind a full switch: 32 MiB are 2.7 ms at 100 Gb/s.
    s.timeout = s.round_trip * 2 + SimSpan::micros(10'000);
    return s;
  }
};

}  // namespace matchrdma::sim
