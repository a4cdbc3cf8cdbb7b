#include "dataplane/source/acknowledge.h"

#include <algorithm>

#include "dataplane/source/credits.h"

namespace matchrdma {
namespace {

// End-to-end: a work request may complete only when the receiver has it, so nothing at or above the oldest
// unconfirmed packet that ends a message (PROTOCOL 4, completion_fence).
Seq completion_fence(SourceFlow& f) {
  if (f.completion != Completion::kEndToEnd) return INT64_MAX;
  f.fence_index = std::max(f.fence_index, f.window.begin());
  while (f.fence_index < f.window.end() && !f.window[f.fence_index].has(Owned::kEnds)) ++f.fence_index;
  return f.fence_index < f.window.end() ? f.window[f.fence_index].psn : INT64_MAX;
}

void give(SourceFlow& f, Seq psn, uint8_t syndrome, int64_t msn, Cause cause, const RoleCtx& ctx) {
  PacketRef p = f.ack_frame.make(wire_psn(psn), syndrome, wire_msn(msn), *ctx.pool);
  if (!p) {
    ctx.n->reasons.add(Reason::kNoBuffer);
    return;
  }
  ctx.out->packet(Side::kLan, cause, std::move(p));
}

void remember_given(SourceFlow& f, Seq end, Instant now) {
  f.given[f.given_count++ % f.given.size()] = {end, now};
}

void give_ack(SourceFlow& f, Seq end, const RoleCtx& ctx) {
  const int64_t msn = messages_below(f, end);
  give(f, end - 1, static_cast<uint8_t>(kAethAck | ack_credits(f, msn)), msn, Cause::kPseudoAck, ctx);
  ++ctx.n->pseudo_acks;
  if (f.ack_wanted_end > f.acked_end) ctx.latencies->ack.add(ctx.now - f.ack_asked);
  note_told(f, end);
  f.since_ack = 0;
  f.ack_again = false;
  remember_given(f, end, ctx.now);
}

// A NAK acknowledges everything before it (C2), so it stands at most at the ceiling's end; none inside an
// outstanding READ-class range: there the responses must pass first.
void give_gap_nak(SourceFlow& f, Seq ceiling, const RoleCtx& ctx) {
  const Seq psn = std::min(f.epsn, ceiling);
  if (psn < f.confirmed_end || psn < f.base) return;
  const Seq fence = read_fence(f);
  if (psn >= fence) return;
  give(f, psn, kNakSequence, messages_below(f, psn), Cause::kPseudoNak, ctx);
  ++ctx.n->naks_sent;
  note_told(f, psn);
  f.gap_nak = SourceFlow::GapNak::kSent;
}

}  // namespace

int64_t messages_below(SourceFlow& f, Seq end) {
  if (end == f.epsn) return f.msn_at_base + f.messages;
  const uint64_t lo = first_ending_above(f.window, end);
  const uint32_t n = lo > f.window.begin() ? f.window[lo - 1].messages_end : f.messages_confirmed;
  return f.msn_at_base + n;
}

Seq read_fence(SourceFlow& f) {
  Seq fence = INT64_MAX;
  for (uint64_t i = f.reads.begin(); i < f.reads.end(); ++i) {
    if (!f.reads[i].complete()) fence = std::min(fence, f.reads[i].begin);
  }
  return fence;
}

Seq ceiling_end(SourceFlow& f) {
  if (f.plain_left > 0) return f.epsn;  // all of it was admitted, and no READ is among it
  if (f.state != FlowState::kActive) return kNoCeiling;
  return std::min({f.released_end(), read_fence(f), completion_fence(f)});
}

void want_ack(SourceFlow& f, Seq end, Instant accepted) {
  if (f.ack_wanted_end <= f.acked_end) f.ack_asked = accepted;
  f.ack_wanted_end = std::max(f.ack_wanted_end, end);
}

bool ask_if_due(SourceFlow& f, const Owned& o, const RoleCtx& ctx) {
  ++f.since_ack;
  if (!o.has(Owned::kAckReq) && !o.has(Owned::kEnds) && f.since_ack < ctx.tuning->ack_every) return false;
  want_ack(f, o.end(), o.accepted);
  return true;
}

void note_told(SourceFlow& f, Seq end) {
  f.acked_end = std::max(f.acked_end, end);
  if (f.ack_wanted_end <= f.acked_end) return;
  // What lies above waits on, since its own time.
  const uint64_t i = first_ending_above(f.window, f.acked_end);
  if (i < f.window.end()) f.ack_asked = f.window[i].accepted;
}

void settle_acks(SourceFlow& f, const RoleCtx& ctx) {
  const Seq ceiling = ceiling_end(f);
  if (ceiling == kNoCeiling || !f.ack_frame.prepared() || !ctx.peer_up) return;
  if (f.plain_left == 0 && f.gap_nak == SourceFlow::GapNak::kDue && !f.gap.empty() && f.chosen_drop < 0)
    give_gap_nak(f, ceiling, ctx);
  const bool rises = ceiling > f.acked_end && f.ack_wanted_end > f.acked_end;
  const bool again = f.ack_again && ceiling >= f.acked_end && ceiling > f.base;
  if (rises || again) give_ack(f, ceiling, ctx);
}

void give_fault_nak(SourceFlow& f, const RoleCtx& ctx) {
  if (!f.ack_frame.prepared()) return;
  give(f, f.fault_psn, f.fault_syndrome, f.fault_msn, Cause::kFaultNak, ctx);
  ++ctx.n->fault_naks;
  f.fault_told = true;
}

}  // namespace matchrdma
