// The source role's door: requests from the LAN, answers from the span, by the state of the flow.
#include <algorithm>

#include "dataplane/shard/impl.h"
#include "dataplane/source/accept.h"
#include "dataplane/source/acknowledge.h"
#include "dataplane/source/activate.h"
#include "dataplane/source/custody.h"
#include "dataplane/source/read_fence.h"

namespace matchrdma {
namespace {

// Only FIRST and MIDDLE show the path MTU: an ONLY may be shorter (PROTOCOL 3).
void note_path_mtu(SourceFlow& f, const Frame& req) {
  const bool full = req.info().first || req.info().middle;
  if (f.path_mtu == 0 && full && legal_path_mtu(req.payload_length())) f.path_mtu = req.payload_length();
}

bool other_port(SourceFlow& f, const Frame& req) {
  if (f.port == 0) f.port = req.udp_source_port();
  return f.port != req.udp_source_port();
}

void note_seen(SourceFlow& f, const Frame& req, const RoleCtx& ctx) {
  const Seq psn = unwrap24(req.psn().v, f.seen ? f.seen_end() : kFirstEpoch + req.psn().v);
  if (req.info().read_class && (f.state != FlowState::kActive || psn < f.base)) {
    note_read_early(f, req, psn, !f.seen || psn >= f.seen_end(), ctx);
  }
  const Seq end = psn + psn_count(req, f.path_mtu);
  f.set_seen_end(f.seen ? std::max(f.seen_end(), end) : end);
  f.seen = true;
}

}  // namespace

FlowId Shard::Impl::new_id(FlowIndex i) {
  const FlowId id{(uint64_t{config.instance} << 32) | ++next_flow_id};
  ids.put(id, i);
  return id;
}

void Shard::Impl::open(SourceFlow& f, const RoleCtx& ctx) {
  f.group = gate.group(GroupKey::of(f.key), ctx);
  if (f.group == nullptr) {
    n.reasons.add(Reason::kFlowLimit);
    return;
  }
  ids.erase(f.id);
  open_flow(f, new_id(f.index), ctx);
  touch(f.index);
}

// While an old life is being ended the far proxy drops what still comes of it, and cannot tell it from the next
// one. A QP that is nobody's any more does not wait for a peer that is gone.
void Shard::Impl::pass_or_keep(SourceFlow& f, const Frame& req, PacketRef packet, const RoleCtx& ctx) {
  const bool peer_ends_it = ctx.peer_up || f.completion != Completion::kTransparent;
  if (f.state == FlowState::kClosing && f.closing_keeps && peer_ends_it) {
    keep_until_closed(f, std::move(packet), ctx);
  } else {
    forward_outside(req, Cause::kForward, std::move(packet), ctx);
  }
}

void Shard::Impl::source_request(SourceFlow& f, const Frame& req, PacketRef packet, const RoleCtx& ctx) {
  if (f.completion == Completion::kTransparent || f.state == FlowState::kTransparent) {
    n.reasons.add(Reason::kTransparentPolicy);
    pass_or_keep(f, req, std::move(packet), ctx);
    return;
  }
  if (f.inferred && other_port(f, req)) {
    // What named the pair has changed: another QP may be behind this QPN now (C6). What is owned is delivered.
    if (f.state == FlowState::kActive && f.owns()) {
      if (!f.draining) matchrdma::drain(f);
    } else {
      retire(f, ctx);
      pass_or_keep(f, req, std::move(packet), ctx);
      return;
    }
  }
  note_path_mtu(f, req);
  if (f.path_mtu != 0) note_seen(f, req, ctx);
  switch (f.state) {
    case FlowState::kPaired:
      if (ctx.peer_up && !draining() && f.seen && f.seen_end() > f.no_base_below && f.open_after <= ctx.now)
        open(f, ctx);
      [[fallthrough]];
    case FlowState::kOpening:
      n.reasons.add(Reason::kUntracked);
      forward_outside(req, Cause::kForward, std::move(packet), ctx);
      return;
    case FlowState::kBasing:
    case FlowState::kBarrier:
      // A hole in the copies would be a gap of the LAN later, whose READ nobody would know (seed 3633967092).
      if (!accept_before_lift(f, req, packet, ctx)) forget_base(f, gate, ctx);
      forward_outside(req, Cause::kBarrier, std::move(packet), ctx);
      return;
    case FlowState::kClosing:
      pass_or_keep(f, req, std::move(packet), ctx);
      return;
    case FlowState::kDoubted:
      n.reasons.add(Reason::kDoubted);
      if (const Verdict v = on_request_doubted(f, req, ctx); v != Verdict::kOpen) {
        conclude(f.index, v, ctx);
      } else {
        forward_outside(req, Cause::kForward, std::move(packet), ctx);
      }
      return;
    case FlowState::kPoisoned:
      n.reasons.add(Reason::kPoisoned);
      on_request_poisoned(f, req, ctx);
      return;
    default:
      break;
  }
  if (f.draining && unwrap24(req.psn().v, f.epsn) >= f.epsn) {
    n.reasons.add(Reason::kDraining);
    keep_until_closed(f, std::move(packet), ctx);
    return;
  }
  if (req.info().read_class &&
      psn_count(req, f.path_mtu) >= static_cast<uint32_t>(config.limits.max_psn_window)) {
    n.reasons.add(Reason::kReadRange);
    matchrdma::drain(f);
    keep_until_closed(f, std::move(packet), ctx);
    return;
  }
  on_congestion_mark(f, req, packet, cnp_port, ctx);
  // The mark may have been rewritten in a copy: the view follows the packet.
  const Frame view = packet->data == req.data() ? req : parse_frame(packet->bytes()).frame;
  switch (accept_request(f, view, packet, gate, ctx)) {
    case Accepted::kTaken:
      break;
    case Accepted::kForward:
      forward_outside(view, Cause::kBelowBase, std::move(packet), ctx);
      break;
    case Accepted::kBeganEarlier:
      n.reasons.add(Reason::kBarrier);
      start_over(f, gate, ctx);
      forward_outside(view, Cause::kForward, std::move(packet), ctx);
      return;
    case Accepted::kNewGeneration:
      if (f.inferred) {
        retire(f, ctx);  // nothing says that the new life has the same partner (C6)
        pass_or_keep(f, view, std::move(packet), ctx);
        return;
      }
      new_generation(f, true, gate, ctx);
      keep_until_closed(f, std::move(packet), ctx);
      return;
  }
  if (ctx.custody_is_short() || f.group->backlog_bytes > config.tuning.gate_cnp_threshold)
    on_gate_backlog(f, cnp_port, ctx);
}

void Shard::Impl::source_answer(SourceFlow& f, const Frame& answer, PacketRef packet, const RoleCtx& ctx) {
  switch (f.state) {
    case FlowState::kActive:
    case FlowState::kReopening:
      source_answer_active(f, answer, std::move(packet), ctx);
      return;
    case FlowState::kPaired:
    case FlowState::kOpening:
    case FlowState::kBasing:
    case FlowState::kBarrier:
      source_answer_before_lift(f, answer, std::move(packet), ctx);
      return;
    case FlowState::kPoisoned:
      n.reasons.add(Reason::kPoisoned);
      return;
    default:
      break;
  }
  // Of a QP that is nobody's any more they may speak to its next life.
  const bool next_life = f.completion == Completion::kTransparent;
  if (f.state == FlowState::kClosing && f.closing_keeps && !next_life) {
    n.reasons.add(Reason::kClosing);
    return;
  }
  forward(Side::kWan, answer.opcode() == op::kRcAck ? Cause::kPassedAck : Cause::kResponse, std::move(packet),
          ctx);
}

// The receiver's own words on the span while we promise: honoured inside what we know, rebuilt by our ceiling,
// never passed (H6). The destination lets them through after a restart, and re-ACKs of forwarded duplicates.
void Shard::Impl::source_answer_active(SourceFlow& f, const Frame& answer, PacketRef packet,
                                       const RoleCtx& ctx) {
  if (answer.opcode() != op::kRcAck) {
    if (on_response(f, answer)) confirm_answered(f, ctx);
    forward(Side::kWan, Cause::kResponse, std::move(packet), ctx);
    return;
  }
  const Seq psn = unwrap24(answer.psn().v, f.confirmed_end);
  const uint8_t syndrome = answer.aeth_syndrome();
  const uint8_t kind = syndrome & 0xe0;
  if (psn < f.base) {
    forward(Side::kWan, Cause::kPassedAck, std::move(packet), ctx);  // what is below base was never ours
    return;
  }
  ++n.real_acks_absorbed;
  if (kind == kAethAck) {
    if (psn + 1 <= f.sent_end()) confirm(f, psn + 1, answer.aeth_msn(), ctx);
    f.ack_again = true;
  } else if (kind == kAethRnr || syndrome == kNakSequence) {
    if (psn < f.confirmed_end || psn >= f.sent_end()) return;
    confirm(f, psn, answer.aeth_msn(), ctx);
    if (syndrome == kNakSequence) resend_from(f, psn, gate, ctx);
  } else if (kind == kAethNak && psn >= f.confirmed_end && psn < f.sent_end()) {
    poison_qp(f.index, syndrome, ctx);
  }
}

void Shard::Impl::source_answer_before_lift(SourceFlow& f, const Frame& answer, PacketRef packet,
                                            const RoleCtx& ctx) {
  const Seq psn = unwrap24(answer.psn().v, f.seen ? f.seen_end() : f.base);
  const bool based = f.state == FlowState::kBasing || f.state == FlowState::kBarrier;
  if (answer.opcode() != op::kRcAck) {
    // Only the last response of a request, after all others, tells that and the MSN of what it acknowledges
    // (H7).
    if (on_response(f, answer) && answer.info().aeth && msn_is_exact(f, psn)) {
      on_real_ack_before_lift(f, psn + 1, answer.aeth_msn(), gate, ctx);
    }
    forward(Side::kWan, Cause::kResponse, std::move(packet), ctx);
    return;
  }
  const uint8_t syndrome = answer.aeth_syndrome();
  if ((syndrome & 0xe0) == kAethAck) {
    if (f.seen) on_real_ack_before_lift(f, psn + 1, answer.aeth_msn(), gate, ctx);
  } else if (based && psn < f.base) {
    forget_base(f, gate, ctx);
  } else if (syndrome == kNakSequence && f.state == FlowState::kBarrier && psn <= f.seen_end()) {
    on_real_ack_before_lift(f, psn, answer.aeth_msn(), gate, ctx);
    if (f.state == FlowState::kActive) {
      resend_from(f, psn, gate, ctx);  // H6: what it asks for is in custody
      return;
    }
  }
  forward(Side::kWan, Cause::kPassedAck, std::move(packet), ctx);
}

}  // namespace matchrdma
