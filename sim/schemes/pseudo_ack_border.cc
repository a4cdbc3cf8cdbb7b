#include "sim/schemes/pseudo_ack_border.h"

namespace matchrdma::sim {

bool PseudoAckBorder::takes(SimPacket* p, bool from_long, SimTime now) {
  if (p->kind == FrameKind::kData) return from_long ? from_near_device(p, now) : from_sender(p, now);
  if (p->kind == FrameKind::kAck || p->kind == FrameKind::kNack)
    return from_long ? from_far_device(p, now) : from_receiver(p, now);
  return false;
}

bool PseudoAckBorder::from_sender(SimPacket* p, SimTime now) {
  Near& f = near_.try_emplace(p->flow, *p, *this).first->second;
  const int64_t before = f.copies.acknowledged();
  using Arrival = CopyQueue::Arrival;
  const Arrival a = f.copies.arrive(*p, now);
  const int64_t acknowledged = f.copies.acknowledged();
  if (acknowledged > before || a == Arrival::kAgain) {
    answers_.send(FrameKind::kAck, f.ends, acknowledged, now);
  } else if ((a == Arrival::kGap || a == Arrival::kRefuse) && f.nack.may(acknowledged, now)) {
    answers_.send(FrameKind::kNack, f.ends, acknowledged, now);
  }
  if (!f.copies.empty() && f.timer.deadline().is_never()) f.timer.set(now + s_.timeout);
  if (a == Arrival::kPass || a == Arrival::kGap) return false;
  context_.packets.release(p);
  return true;
}

bool PseudoAckBorder::from_near_device(SimPacket* p, SimTime now) {
  ForwardTrack& f = far(p->flow);
  const ForwardTrack::Verdict v = f.on_data(p->seq, now);
  if (v.ask) tell(make_answer(context_, FrameKind::kNack, FlowEnds::of(*p), f.expected()), now);
  if (v.acknowledge) tell(make_answer(context_, FrameKind::kAck, FlowEnds::of(*p), f.acknowledged()), now);
  if (!v.forward) context_.packets.release(p);
  return !v.forward;
}

bool PseudoAckBorder::from_receiver(SimPacket* p, SimTime now) {
  ForwardTrack& f = far(p->flow);
  bool ask = false;
  if (p->kind == FrameKind::kNack) {
    ask = f.on_nack(p->seq, now);
  } else {
    f.on_ack(p->seq);
  }
  const FlowEnds ends{.source = p->destination, .destination = p->source, .source_qp = p->qp, .flow = p->flow};
  // What it means to the near device goes on in its frame, with its CNP bit.
  p->kind = FrameKind::kAck;
  p->seq = f.acknowledged();
  tell(p, now);
  if (ask) tell(make_answer(context_, FrameKind::kNack, ends, f.expected()), now);
  return true;
}

bool PseudoAckBorder::from_far_device(SimPacket* p, SimTime now) {
  const auto it = near_.find(p->flow);
  MRDMA_CHECK(it != near_.end());
  Near& f = it->second;
  if (p->kind == FrameKind::kNack) {
    if (f.copies.ask(p->seq, now)) resend(f, now);
  } else {
    const int64_t before = f.copies.acknowledged();
    if (f.copies.release(p->seq)) f.timer.set(f.copies.empty() ? SimTime::never() : now + s_.timeout);
    if (f.copies.acknowledged() > before) answers_.send(FrameKind::kAck, f.ends, f.copies.acknowledged(), now);
    if (p->cnp) node_.emit(make_answer(context_, FrameKind::kCnp, f.ends, 0), now);
  }
  context_.packets.release(p);
  return true;
}

void PseudoAckBorder::tell(SimPacket* message, SimTime now) {
  control_bytes_ += message->size;
  node_.emit_long(message, now);
}

void PseudoAckBorder::resend(Near& f, SimTime now) {
  // Copies wait here and not in the switch, where a flow that goes back once more could not call them off.
  if (queued_bytes_ > kMostQueued) return f.pace.set(now + kQueuedWait);
  SimPacket* p = context_.packets.alloc();
  const CopyQueue::Next next = f.copies.next(*p, now);
  if (next == CopyQueue::Next::kAskSender && f.nack.may(f.copies.acknowledged(), now))
    answers_.send(FrameKind::kNack, f.ends, f.copies.acknowledged(), now);
  if (next != CopyQueue::Next::kCopy) return context_.packets.release(p);
  p->source = f.ends.source;
  p->destination = f.ends.destination;
  p->qp = f.ends.destination_qp;
  p->source_qp = f.ends.source_qp;
  p->flow = f.ends.flow;
  p->traffic_class = f.traffic_class;
  ++sent_again_;
  queued_bytes_ += p->size;
  f.pace.set(now + context_.tick.serialise(p->size + context_.frames.gap, s_.resend_rate));
  node_.emit_long(p, now);
}

void PseudoAckBorder::leaves(SimPacket& p, bool to_long, SimTime) {
  if (to_long && p.kind == FrameKind::kData && p.in_port == SwitchNode::kNoPort) queued_bytes_ -= p.size;
}

void PseudoAckBorder::on_event(SimTime now, uint64_t argument) {
  Near& f = near_.at(static_cast<uint32_t>(argument));
  if (argument < kResend) {
    f.timer.set(now + s_.timeout);
    f.copies.go_back();
  }
  resend(f, now);
}

}  // namespace matchrdma::sim
