#include "sim/schemes/sender_answers.h"

namespace matchrdma::sim {

SimPacket* make_answer(SimContext& context, FrameKind kind, const FlowEnds& to, int64_t expected) {
  SimPacket* p = context.packets.alloc();
  p->kind = kind;
  p->traffic_class = kControlClass;
  p->size = kind == FrameKind::kCnp ? context.frames.cnp : context.frames.ack;
  p->cnp = kind == FrameKind::kCnp;
  p->seq = expected;
  p->source = to.destination;
  p->destination = to.source;
  p->qp = to.source_qp;
  p->flow = to.flow;
  return p;
}

void SenderAnswers::send(FrameKind kind, const FlowEnds& to, int64_t expected, SimTime now) {
  SimPacket* p = make_answer(context_, kind, to, expected);
  p->due = now + work_;
  if (waiting_.empty()) context_.events.schedule(p->due, *this);
  waiting_.push(p);
}

void SenderAnswers::on_event(SimTime now, uint64_t) {
  SimPacket* p = waiting_.pop();
  if (!waiting_.empty()) context_.events.schedule(waiting_.front()->due, *this);
  node_.emit(p, now);
}

}  // namespace matchrdma::sim
