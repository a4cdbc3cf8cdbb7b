#pragma once
// The receiving end of a QP: order, answers, and notice of congestion.
#include <cstdint>

#include "sim/qp_settings.h"
#include "sim/sim_packet.h"
#include "sim/sim_time.h"

namespace matchrdma::sim {

/// What a data packet calls for.
struct Answer {
  enum class Kind : uint8_t { kNone, kAck, kNack } kind = Kind::kNone;
  int64_t expected = 0;     ///< next PSN, of ACK and NACK
  uint32_t messages = 0;    ///< complete, of ACK and NACK
  bool cnp_bit = false;     ///< on that ACK or NACK
  bool cnp_packet = false;  ///< a CNP of its own
  int64_t delivered = 0;    ///< payload bytes taken in order
  bool message_ended = false;
};

/// Duty: takes what is in order, names the rest once in a while (go-back-N). Does not send.
class ReceiveQp {
 public:
  explicit ReceiveQp(const ReceiverSettings& settings) : s_(settings) {}

  Answer on_data(const SimPacket& p, SimTime now);
  int64_t delivered() const { return delivered_; }  ///< payload bytes in order

 private:
  void notify(Answer& a, SimTime now);

  ReceiverSettings s_;
  int64_t expected_ = 0;     ///< PSN
  int64_t delivered_ = 0;    ///< payload bytes
  uint32_t messages_ = 0;    ///< complete
  int64_t nacked_ = -1;      ///< PSN that the last NACK named
  SimTime nack_again_at_{};  ///< the same may be named again
  bool marked_ = false;      ///< CE seen and not told
  SimTime notify_again_at_{};
};

}  // namespace matchrdma::sim
