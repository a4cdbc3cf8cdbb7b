#pragma once
// The sending end of a QP: messages, pacing, window, go-back-N.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "sim/frame_sizes.h"
#include "sim/qp_settings.h"
#include "sim/reaction_point.h"
#include "sim/sim_packet.h"
#include "sim/sim_time.h"

namespace matchrdma::sim {

/// Duty: what a QP may send, and when. A pure object: packets are filled in by fill(), answers come in with
/// the time. Knows neither its NIC nor who shares it.
class SendQp {
 public:
  /// line_rate: of the NIC's port.
  SendQp(const SenderSettings& settings, Rate line_rate);

  /// Queues a message of `bytes` (above 0). Messages complete in order.
  void post(int64_t bytes);
  /// From when on the next packet may leave; never while there is none or the window is full.
  SimTime ready_at() const;
  /// Writes the next packet and paces the one behind it. Only when ready.
  void fill(SimPacket& p, SimTime now, const FrameSizes& frames, Tick tick);

  /// Cumulative acknowledgement of all PSNs before `expected`. Returns how many messages that completes.
  size_t on_ack(int64_t expected, SimTime now);
  /// The same, and the rest is sent again.
  size_t on_nack(int64_t expected, SimTime now);
  void on_cnp(SimTime now);
  /// As a new connection: DCQCN has seen nothing yet. Only while idle().
  void start_anew();
  /// All that was posted is acknowledged.
  bool idle() const { return ends_.empty(); }

  SimTime next_timer() const;
  void run_timers(SimTime now);

  uint8_t traffic_class() const { return s_.traffic_class; }
  double rate() const { return reaction_ ? reaction_->rate() : line_rate_; }
  int64_t acknowledged() const { return una_.byte; }  ///< payload bytes
  int64_t sent_again() const { return sent_again_; }  ///< payload bytes
  bool failed() const { return failed_; }             ///< retries exhausted

 private:
  /// A place in the stream of messages: the packet, and its first payload byte.
  struct Place {
    int64_t psn = 0, byte = 0;
  };
  int64_t window() const;
  void go_back();
  void restart_timeout(SimTime now);

  SenderSettings s_;
  double line_rate_;  ///< bits per second
  std::optional<ReactionPoint> reaction_;
  std::deque<Place> ends_;  ///< behind the last packet of each message that is not complete
  size_t sending_ = 0;      ///< index in ends_ of the message of nxt_
  Place start_;             ///< of that message
  Place posted_, una_, nxt_;
  Place completed_;      ///< end of the last complete message
  int64_t highest_ = 0;  ///< PSN behind all that were sent
  SimTime next_avail_{};
  SimTime timeout_at_ = SimTime::never();
  int retries_left_;
  int64_t sent_again_ = 0;
  bool failed_ = false;
};

}  // namespace matchrdma::sim
