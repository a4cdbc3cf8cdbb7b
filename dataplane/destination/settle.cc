#include "dataplane/destination/settle.h"

#include <algorithm>

#include "dataplane/destination/reorder.h"
#include "dataplane/destination/repair.h"

namespace matchrdma {
namespace {

constexpr Duration kCnpMemory = Duration::millis(2);

void forget(EgressGroup& g, const Held& h, const RoleCtx& ctx) {
  const uint32_t bytes = h.packet->size;
  if (h.has(Held::kDelivered)) {
    g.unacked_bytes -= bytes;
    ctx.n->unsettled_bytes -= bytes;
  } else {
    g.queued_bytes -= bytes;
  }
}

void note_receiver(DestinationFlow& f, const Frame& ack) {
  f.heard = true;
  f.msn_real = unwrap24(ack.aeth_msn().v, std::max<int64_t>(f.msn_real, 0));
  f.credits = ack.aeth_syndrome() & 31;
  const AckTemplate form = AckTemplate::from_ack(ack);
  if (f.form == form) return;
  f.form = form;
  f.form_since = f.report_seq + 1;
}

Answer absorbed(DestinationFlow& f, Reason why, const RoleCtx& ctx) {
  if (f.state != DestState::kActive) return Answer::kPass;
  ctx.n->reasons.add(why);
  return Answer::kAbsorb;
}

// Before the barrier is lifted packets pass that we do not keep; what is said of them tells where the receiver
// is.
void skip_over_passed(DestinationFlow& f, Seq end, Egress& egress, const RoleCtx& ctx) {
  if (f.state == DestState::kTracking && end - f.base < ctx.limits->max_psn_window)
    skip_to(f, end, egress, ctx);
}

// What a life of this proxy before has delivered is acknowledged again, all of it at the first duplicate (IBA
// C9-105): what this life has delivered is among it. The rest is delivered all the same, and that ACK counts
// then: a READ in it may have no answer yet.
Seq known_part(const DestinationFlow& f, Seq end) {
  return f.reopened && end > f.delivered_end && end <= f.marked_end ? f.delivered_end : end;
}

Answer on_ack(DestinationFlow& f, const Frame& ack, Seq psn, Egress& egress, const RoleCtx& ctx) {
  const Seq end = known_part(f, psn + 1);
  skip_over_passed(f, end, egress, ctx);
  if (end > f.delivered_end || end < f.acked_end) {
    if (f.state == DestState::kActive && f.reacks_due > 0 && end <= f.delivered_end) {
      --f.reacks_due;
      return Answer::kPass;
    }
    if (end > f.delivered_end && f.inferred && !f.reopened && ++f.strange_acks >= kContradictions) {
      ctx.out->message(FlowContradicted{f.id});
    }
    return absorbed(f, Reason::kAckOutsideWindow, ctx);
  }
  f.strange_acks = 0;
  note_receiver(f, ack);
  const bool answers_probe = f.probed >= 0 && end == f.probed && end < f.delivered_end;
  const bool news = end > f.acked_end;
  if (news || end == f.acked_end) f.report_dirty = true;
  const Instant asked = settle(f, end, ctx);
  if (!asked.is_never()) f.group->ack_delay(ctx.now - asked, ctx.now);
  if (answers_probe && f.state == DestState::kActive) {
    // The receiver has exactly the probe and nothing after it: the rest was lost on the LAN.
    f.probed = -1;
    redeliver_from(f, end, Cause::kProbe, egress, ctx);
  }
  if (!news && f.reacks_due > 0 && f.state == DestState::kActive) {
    --f.reacks_due;
    return Answer::kPass;
  }
  if (f.state == DestState::kActive) ++ctx.n->real_acks_absorbed;
  return absorbed(f, Reason::kAckAbsorbed, ctx);
}

Answer on_nak(DestinationFlow& f, const Frame& nak, Seq psn, Egress& egress, const RoleCtx& ctx) {
  const uint8_t kind = nak.aeth_syndrome() & 0xe0;
  if (psn < f.acked_end || psn >= f.delivered_end) return absorbed(f, Reason::kAckOutsideWindow, ctx);
  note_receiver(f, nak);
  settle(f, psn, ctx);
  f.report_dirty = true;
  if (f.state != DestState::kActive) return Answer::kPass;
  if (kind == kAethRnr) {
    ++ctx.n->real_rnrs_absorbed;
    wait_receiver_not_ready(f, psn, nak.aeth_syndrome() & 31, ctx);
    return absorbed(f, Reason::kAckAbsorbed, ctx);
  }
  ++ctx.n->real_naks_absorbed;
  if (f.rnr_until > ctx.now && psn == f.rnr_psn) return absorbed(f, Reason::kNakDuringRnr, ctx);
  redeliver_from(f, psn, Cause::kReceiverNak, egress, ctx);
  return absorbed(f, Reason::kAckAbsorbed, ctx);
}

Answer on_fatal_nak(DestinationFlow& f, Seq psn, uint8_t syndrome, Egress& egress, const RoleCtx& ctx) {
  skip_over_passed(f, psn, egress, ctx);
  const bool passed = f.state == DestState::kTracking && psn == f.delivered_end;
  if (psn < f.acked_end || (psn >= f.delivered_end && !passed))
    return absorbed(f, Reason::kAckOutsideWindow, ctx);
  settle(f, psn, ctx);
  // Before the barrier is lifted the sender is told by the receiver's own NAK, the source by us.
  const Answer told = f.state == DestState::kActive ? Answer::kAbsorb : Answer::kPass;
  fault(f, syndrome, egress, ctx);
  return told;
}

// Where there was no room to remember what is being answered, its last response says that the receiver has done
// it; which responses the sender has is the source's to know.
void on_response_of_unknown(DestinationFlow& f, Seq psn, const RoleCtx& ctx) {
  const uint64_t i = f.find(psn);
  if (i >= f.ring.end()) return;
  Held& h = f.ring[i];
  if (!h.has(Held::kReadClass) || !h.has(Held::kDelivered)) return;
  h.flags |= Held::kAnswered;
  const Seq end = h.end();
  if (psn + 1 == end && end <= f.delivered_end) settle(f, end, ctx);
}

// A response acknowledges what stands before it, and counts only in sequence (H7).
void on_response(DestinationFlow& f, const Frame& resp, const RoleCtx& ctx) {
  const Seq psn = unwrap24(resp.psn().v, f.delivered_end);
  for (uint64_t i = f.answering.begin(); i < f.answering.end(); ++i) {
    Answering& a = f.answering[i];
    if (psn < a.begin || psn >= a.end) continue;
    const uint64_t h = f.find(a.begin);
    if (h < f.ring.end()) f.ring[h].flags |= Held::kAnswered;
    if (psn != a.next_response) return;
    ++a.next_response;
    const bool last = resp.info().ends_message() || resp.opcode() == op::kRcAtomicAck;
    const Seq end = last ? psn + 1 : psn;
    if (resp.info().aeth) note_receiver(f, resp);
    f.report_dirty = true;
    if (end > f.acked_end && end <= f.delivered_end) settle(f, end, ctx);
    return;
  }
  on_response_of_unknown(f, psn, ctx);
}

}  // namespace

Instant settle(DestinationFlow& f, Seq end, const RoleCtx& ctx) {
  Instant asked = Instant::never();
  if (end <= f.acked_end) return asked;
  f.acked_end = end;
  uint64_t acked = 0, packets = 0;
  while (!f.ring.empty() && f.ring.front().end() <= end) {
    const Held& h = f.ring.front();
    const uint32_t bytes = h.packet->size;
    f.held_bytes -= bytes;
    ctx.n->held_bytes -= bytes;
    forget(*f.group, h, ctx);
    acked += bytes;
    ++packets;
    if (!h.asked.is_never()) asked = h.asked;
    f.ring.pop_front();
  }
  f.group->meter.acked(acked, packets, f.group->unacked_bytes == 0, ctx.now);
  f.deliver_index = std::max(f.deliver_index, f.ring.begin());
  f.last_progress = ctx.now;
  f.probes = 0;
  if (end > f.rnr_psn) f.rnr_until = Instant{};
  f.report_dirty = true;
  return asked;
}

Answer on_receiver_answer(DestinationFlow& f, const Frame& answer, Egress& egress, const RoleCtx& ctx) {
  if (!f.tracking()) return Answer::kPass;
  if (answer.opcode() != op::kRcAck) {
    on_response(f, answer, ctx);
    egress.offer(f, ctx);
    return Answer::kPass;
  }
  const Seq psn = unwrap24(answer.psn().v, f.acked_end);
  if (psn < f.base) return Answer::kPass;  // below base both proxies are transparent
  const uint8_t syndrome = answer.aeth_syndrome();
  Answer a = Answer::kPass;
  if ((syndrome & 0xe0) == kAethAck) {
    a = on_ack(f, answer, psn, egress, ctx);
  } else if ((syndrome & 0xe0) == kAethRnr || syndrome == kNakSequence) {
    a = on_nak(f, answer, psn, egress, ctx);
  } else if ((syndrome & 0xe0) == kAethNak) {
    return on_fatal_nak(f, psn, syndrome, egress, ctx);
  }
  egress.offer(f, ctx);
  return a;
}

Answer on_receiver_cnp(DestinationFlow& f, const RoleCtx& ctx) {
  if (f.state != DestState::kActive) return Answer::kPass;
  const bool requests = f.last_request_out + kCnpMemory >= ctx.now;
  const bool responses = f.last_response_out + kCnpMemory >= ctx.now;
  if (!requests || responses) return Answer::kPass;
  ++ctx.n->receiver_cnps;
  if (f.group->metered) f.group->cnp(ctx.now);
  ctx.n->reasons.add(Reason::kCnpConsumed);
  return Answer::kAbsorb;
}

void discard_held(DestinationFlow& f, Egress& egress, const RoleCtx& ctx) {
  egress.remove(f);
  f.plain = false;
  ctx.n->poisoned_discarded += f.ring.size() + f.beyond.size();
  ctx.n->held_bytes -= f.held_bytes + f.beyond.bytes();
  f.held_bytes = 0;
  for (uint64_t i = f.ring.begin(); i < f.ring.end(); ++i) forget(*f.group, f.ring[i], ctx);
  f.ring.clear();
  f.beyond.clear();
  f.answering.clear();
  f.deliver_index = f.ring.end();
  f.rnr_until = Instant{};
  f.rnr_psn = -1;
  f.report_dirty = f.report_now = false;
  f.report_echoed = f.report_news;
}

}  // namespace matchrdma
