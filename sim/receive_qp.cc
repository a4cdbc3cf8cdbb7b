#include "sim/receive_qp.h"

namespace matchrdma::sim {

Answer ReceiveQp::on_data(const SimPacket& p, SimTime now) {
  Answer a;
  if (p.ce) marked_ = true;
  if (p.seq == expected_) {
    const int64_t before = delivered_;
    ++expected_;
    delivered_ += p.payload;
    messages_ += p.ends_message ? 1 : 0;
    a.delivered = p.payload;
    a.message_ended = p.ends_message;
    // A sender waits for the end of its message, so that is told whatever the interval.
    if (delivered_ / s_.ack_interval != before / s_.ack_interval || delivered_ % s_.ack_chunk == 0 ||
        p.ends_message)
      a.kind = Answer::Kind::kAck;
  } else if (p.seq < expected_) {
    if (s_.acks_duplicates) a.kind = Answer::Kind::kAck;
  } else if (nacked_ != expected_ || now >= nack_again_at_) {
    nacked_ = expected_;
    nack_again_at_ = now + s_.nack_gap;
    a.kind = Answer::Kind::kNack;
  }
  a.expected = expected_;
  a.messages = messages_;
  if (marked_) notify(a, now);
  return a;
}

void ReceiveQp::notify(Answer& a, SimTime now) {
  if (s_.notification != Notification::kCnpPacket && a.kind == Answer::Kind::kNone) return;
  marked_ = false;
  if (s_.notification == Notification::kEveryAck) {
    a.cnp_bit = true;
    return;
  }
  if (now < notify_again_at_) return;
  notify_again_at_ = now + s_.cnp_gap;
  (s_.notification == Notification::kPacedBit ? a.cnp_bit : a.cnp_packet) = true;
}

}  // namespace matchrdma::sim
