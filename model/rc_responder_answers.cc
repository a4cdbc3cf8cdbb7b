// ACKs, NAKs and responses of the responder, and its receive queue (IBA 9.7.5).
#include <algorithm>

#include "model/aeth.h"
#include "model/rc_responder.h"

namespace matchrdma::model {

int64_t RcResponder::psns_of(uint32_t length) const {
  return std::max<int64_t>(1, (int64_t{length} + id_.path_mtu - 1) / id_.path_mtu);
}

uint8_t RcResponder::ack_syndrome() const {
  if (!config_.advertise_credits || config_.receive_queue < 0) return kAethAck | kCreditsUnlimited;
  return static_cast<uint8_t>(kAethAck | encode_credits(static_cast<uint32_t>(receives_)));
}

void RcResponder::aeth(uint8_t syndrome, Seq seq) {
  Reply r;
  r.syndrome = syndrome;
  r.seq = seq;
  r.msn = msn_;
  replies_.push_back(r);
}

void RcResponder::send_ack() {
  ack_due_ = Instant::never();
  ++stats_.acks;
  aeth(ack_syndrome(), epsn_ - 1);
}

void RcResponder::acknowledge(bool message_end, Instant now) {
  if (config_.ack == AckPolicy::kEveryAckReq || (config_.ack == AckPolicy::kMessageEnd && message_end))
    send_ack();
  else if (ack_due_.is_never())
    ack_due_ = now + Duration{prng_.between(0, config_.ack_delay.ns)};
}

void RcResponder::fatal(uint8_t syndrome) {
  aeth(syndrome, epsn_);
  failed_ = true;
}

void RcResponder::inject_nak(uint8_t syndrome, Seq seq) {
  fault_ = syndrome;
  fault_at_ = seq;
}

void RcResponder::fail() {
  failed_ = true;
  replies_.clear();
  head_ = 0;
}

void RcResponder::schedule_refill(Instant now) {
  if (config_.refill_batch <= 0 || receives_ >= config_.receive_queue || !refill_due_.is_never()) return;
  refill_due_ = now + Duration{prng_.between(1, 2 * config_.refill_every.ns)};
}

void RcResponder::post_receives(int64_t n, Instant now) {
  const bool was_empty = receives_ == 0;
  receives_ += n;
  // A requester out of credits learns of new ones at once (IBA 9.7.7.2).
  if (was_empty && n > 0 && config_.advertise_credits && config_.credit_updates && heard_ && !failed_)
    send_ack();
  schedule_refill(now);
}

void RcResponder::run_timers(Instant now) {
  if (failed_) return;
  if (now >= ack_due_) send_ack();
  if (now >= refill_due_) {
    refill_due_ = Instant::never();
    const int64_t room = config_.receive_queue - receives_;
    if (room > 0) post_receives(std::min(room, prng_.between(1, config_.refill_batch)), now);
  }
}

PacketRef RcResponder::poll(Instant now, PacketPool& pool) {
  run_timers(now);
  if (head_ >= replies_.size()) return {};
  Reply& r = replies_[head_];
  RoceSpec spec;
  spec.dest_qp = id_.remote;
  spec.pkey = id_.pkey;
  spec.psn = wire_psn(r.seq);
  spec.syndrome = r.syndrome;
  spec.msn = wire_msn(r.msn);
  const uint32_t n = r.kind == ReplyKind::kRead ? std::min(r.left, id_.path_mtu) : 0;
  const bool last = r.left == n;
  if (r.kind == ReplyKind::kAeth) {
    spec.opcode = op::kRcAck;
  } else if (r.kind == ReplyKind::kAtomic) {
    spec.opcode = op::kRcAtomicAck;
    spec.atomic_original = r.value;
  } else {
    spec.opcode = r.first ? (last ? op::kRcReadRespOnly : op::kRcReadRespFirst)
                          : (last ? op::kRcReadRespLast : op::kRcReadRespMiddle);
    if (n > 0) spec.payload = memory_.at(r.value, n);
  }
  PacketRef p = build_roce(id_.path, spec, pool);
  if (!p) return p;
  if (r.kind == ReplyKind::kRead) ++stats_.read_responses;
  if (r.kind == ReplyKind::kAtomic) ++stats_.atomic_acks;
  if (r.kind == ReplyKind::kRead && !last) {
    r.first = false;
    r.left -= n;
    r.value += n;
    ++r.seq;
  } else {
    pop_reply();
  }
  return p;
}

void RcResponder::pop_reply() {
  if (++head_ == replies_.size()) {
    replies_.clear();
    head_ = 0;
  } else if (head_ == 256) {  // a queue that never runs empty must not grow for ever
    replies_.erase(replies_.begin(), replies_.begin() + 256);
    head_ = 0;
  }
}

}  // namespace matchrdma::model
