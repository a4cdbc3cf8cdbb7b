#include "sim/schemes/themis_border.h"

#include <algorithm>

namespace matchrdma::sim {

bool ThemisBorder::takes(SimPacket* p, bool from_long, SimTime now) {
  if (!s_.trp) return false;
  if (from_long) return p->kind == FrameKind::kData && loops(p, now);
  if (p->kind != FrameKind::kData && p->cnp) count(p->flow, now);
  return false;
}

void ThemisBorder::leaves(SimPacket& p, bool to_long, SimTime now) {
  if (!s_.pnp || !to_long || p.kind != FrameKind::kData || !p.ce) return;
  p.ce = false;
  SimTime& next = next_cnp_[p.flow];
  if (now < next) return;
  next = now + s_.cnp_gap;
  ++cnps_sent_;
  cnps_.send(FrameKind::kCnp, FlowEnds::of(p), 0, now);
}

void ThemisBorder::count(uint32_t flow, SimTime now) {
  Looped& f = looped_.try_emplace(flow, *this, flow).first->second;
  f.count.on_cnp(now);
  f.recovery.set(f.count.recovers_at());
}

bool ThemisBorder::loops(SimPacket* p, SimTime now) {
  const auto it = looped_.find(p->flow);
  if (it == looped_.end()) return false;
  Looped& f = it->second;
  const uint32_t passes = f.count.passes(looping_);
  if (passes == 0 && f.loops.empty()) return false;
  p->due = now + pass(*p) * passes;
  if (f.loops.empty()) f.exit.set(p->due);
  f.loops.push(p);
  ++looping_;
  ++delayed_;
  node_.border_holds(p->size, now);
  return true;
}

// Nobody overtakes, whatever the count was when the one before came.
void ThemisBorder::let_out(Looped& f, SimTime now) {
  while (!f.loops.empty() && f.loops.front()->due <= now) {
    SimPacket* p = f.loops.pop();
    --looping_;
    node_.border_holds(-int64_t{p->size}, now);
    node_.readmit(p, now);
  }
  f.exit.set(f.loops.empty() ? SimTime::never() : f.loops.front()->due);
}

// Passes that have not begun are cancelled; each packet ends the one that it is in.
void ThemisBorder::recover(Looped& f, SimTime now) {
  for (SimPacket* p = f.loops.front(); p != nullptr; p = p->next)
    p->due = now + SimSpan{(p->due - now).ps % pass(*p).ps};
  let_out(f, now);
}

void ThemisBorder::on_event(SimTime now, uint64_t argument) {
  Looped& f = looped_.at(static_cast<uint32_t>(argument >> 1));
  if ((argument & 1) == 0) {
    let_out(f, now);
  } else if (f.count.recover(now)) {
    recover(f, now);
  }
}

}  // namespace matchrdma::sim
