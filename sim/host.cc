#include "sim/host.h"

#include <algorithm>

namespace matchrdma::sim {

uint32_t Host::add_sender(const SenderSettings& settings) {
  const auto qp = static_cast<uint32_t>(senders_.size());
  senders_.emplace_back(settings, out_->spec().rate, context_.events, *this, qp);
  ready_.push_back(SimTime::never());
  active_.resize(qp + 1);
  return qp;
}

uint32_t Host::add_receiver(const ReceiverSettings& settings) {
  receivers_.push_back({ReceiveQp(settings), {}});
  return static_cast<uint32_t>(receivers_.size() - 1);
}

void Host::post(uint32_t qp, int64_t bytes, SimTime now) {
  senders_[qp].qp.post(bytes);
  refresh(qp);
  send(now);
}

void Host::receive(SimPacket* p, uint32_t, SimTime now) {
  if (p->kind == FrameKind::kPfc) {
    pauses_.apply(p->traffic_class, p->pause, now);
  } else if (p->kind == FrameKind::kData) {
    take_data(*p, now);
  } else {
    take_answer(*p, now);
  }
  context_.packets.release(p);
  send(now);
}

void Host::take_data(const SimPacket& p, SimTime now) {
  Receiver& r = receivers_[p.qp];
  const Answer a = r.qp.on_data(p, now);
  if (a.cnp_packet) queue_control(FrameKind::kCnp, r, a);
  if (a.kind != Answer::Kind::kNone)
    queue_control(a.kind == Answer::Kind::kAck ? FrameKind::kAck : FrameKind::kNack, r, a);
  if (a.delivered > 0 && listener_ != nullptr)
    listener_->on_delivered(number_, p.qp, a.delivered, a.message_ended, now);
}

void Host::queue_control(FrameKind kind, const Receiver& r, const Answer& a) {
  SimPacket* p = context_.packets.alloc();
  p->kind = kind;
  p->traffic_class = s_.control_class;
  p->size = kind == FrameKind::kCnp ? context_.frames.cnp : context_.frames.ack;
  p->seq = a.expected;
  p->message = a.messages;
  p->cnp = kind == FrameKind::kCnp || a.cnp_bit;
  p->source = number_;
  p->destination = r.peer.host;
  p->qp = r.peer.qp;
  p->flow = r.peer.flow;
  control_.push(p);
}

void Host::take_answer(const SimPacket& p, SimTime now) {
  SendQp& qp = senders_[p.qp].qp;
  if (p.cnp) qp.on_cnp(now);
  size_t completed = 0;
  if (p.kind == FrameKind::kAck) completed = qp.on_ack(p.seq, now);
  if (p.kind == FrameKind::kNack) completed = qp.on_nack(p.seq, now);
  refresh(p.qp);
  if (completed > 0 && listener_ != nullptr) listener_->on_acknowledged(number_, p.qp, completed, now);
}

void Host::refresh(uint32_t qp) {
  Sender& s = senders_[qp];
  const SimTime ready = s.qp.ready_at();
  active_.set(qp, !ready.is_never());
  ready_[qp] = ready;
  s.timer.set(s.qp.next_timer());
}

void Host::on_event(SimTime now, uint64_t argument) {
  if (argument != kWake) {
    const auto qp = static_cast<uint32_t>(argument);
    senders_[qp].qp.run_timers(now);
    refresh(qp);
  }
  send(now);
}

void Host::send(SimTime now) {
  if (control_.empty() && active_.empty()) return;
  if (out_->free_at() > now || send_control(now) || send_data(now)) {
    if (!control_.empty() || !active_.empty()) wake_.set(out_->free_at());
  }
}

bool Host::send_control(SimTime now) {
  if (control_.empty()) return false;
  if (s_.control_pause_class != kControlClass && pauses_.paused(s_.control_pause_class)) return false;
  out_->send(control_.pop(), now);
  return true;
}

bool Host::send_data(SimTime now) {
  SimTime earliest = SimTime::never();
  uint32_t qp = served_;
  for (uint32_t left = active_.size(); left > 0; --left) {
    qp = active_.next_after(qp);
    if (pauses_.paused(senders_[qp].qp.traffic_class())) continue;
    earliest = std::min(earliest, ready_[qp]);
    if (ready_[qp] > now) continue;
    Sender& s = senders_[qp];
    SimPacket* p = context_.packets.alloc();
    s.qp.fill(*p, now, context_.frames, context_.tick);
    p->source = number_;
    p->destination = s.peer.host;
    p->qp = s.peer.qp;
    p->source_qp = qp;
    p->flow = s.peer.flow;
    refresh(qp);
    served_ = qp;
    out_->send(p, now);
    return true;
  }
  wake_.set(earliest);
  return false;
}

}  // namespace matchrdma::sim
