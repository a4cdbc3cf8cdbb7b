#include "dataplane/source/activate.h"

#include <algorithm>

#include "dataplane/source/acknowledge.h"
#include "dataplane/source/custody.h"

namespace matchrdma {
namespace {

constexpr uint64_t kKeptWhileClosing = 128;
constexpr Duration kAskAgain = Duration::seconds(1);

void say_again_later(SourceFlow& f, const RoleCtx& ctx) {
  f.retry_at = ctx.now + ctx.answer_wait() * (int64_t{1} << std::min(f.retry_count, 6u));
}

void start_handshake(SourceFlow& f, Message m, const RoleCtx& ctx) {
  f.idle_since = ctx.now;
  f.retry_count = 0;
  ctx.out->message(std::move(m));
  say_again_later(f, ctx);
}

Message open_message(const SourceFlow& f) {
  const bool again = f.state == FlowState::kReopening;
  return FlowOpen{f.id, f.key, f.sender_qpn, f.path_mtu, f.completion, f.credits_used, f.vouched, again};
}

void set_base(SourceFlow& f, Seq base) {
  f.restart_at(base);
  f.ack_wanted_end = f.far_received_end = base;
  f.messages = f.messages_confirmed = 0;
  f.msn_at_base = f.has_start ? f.start_msn : 0;
  f.msn_real = -1;
  f.given_count = 0;
  f.given = {};
  f.since_ack = 0;
  f.ack_again = false;
  f.fence_index = 0;
  f.chosen_drop = -1;
  f.mark_seq = 0;
  f.ack_echo = 0;
  f.last_mark = Instant{};
  f.note_passed(Instant{});
  f.lifted_answered = false;
  f.lifted_end = base;
  f.rto_backoff = 0;
}

// Where we keep what still comes, it may belong to the QP's next life and nothing of this one may follow it.
FlowClose close_message(const SourceFlow& f) {
  return {f.id, f.close_whole_qp, f.state == FlowState::kClosing && !f.closing_keeps};
}

void close(SourceFlow& f, FlowEvent why, const RoleCtx& ctx) {
  f.fire(why);
  ctx.out->message(CloseMarker{f.id});
  start_handshake(f, close_message(f), ctx);
}

void begin_close(SourceFlow& f, FlowEvent why, Gate& gate, const RoleCtx& ctx) {
  discard_owned(f, gate, ctx);
  f.draining = false;
  close(f, why, ctx);
}

void lift(SourceFlow& f, Seq end, Msn msn, const RoleCtx& ctx) {
  // The receiver's MSN is an anchor: from here on ours is what it would say.
  f.epsn = std::max(f.epsn, end);
  f.raise_released(end);
  f.raise_sent(std::max(end, f.seen_end()));  // what passed meanwhile is at the far side too
  confirm(f, end, msn, ctx);
  f.msn_at_base = unwrap24(msn.v, (1 << 24) + int64_t{msn.v}) - f.messages_confirmed;
  note_told(f, end);
  f.chosen_drop = -1;
  f.lifted_end = end;
  f.fire(FlowEvent::kLift);
  start_handshake(f, FlowLifted{f.id, f.lifted_end}, ctx);
}

// What the present step of the handshake says; nothing where none is under way.
void say_now(SourceFlow& f, const RoleCtx& ctx) {
  switch (f.state) {
    case FlowState::kOpening:
      ctx.out->message(open_message(f));
      break;
    case FlowState::kBasing:
      ctx.out->message(FlowBase{f.id, f.base, f.base_fresh, false});
      break;
    case FlowState::kReopening:
      if (f.reopen_base < 0) {
        ctx.out->message(open_message(f));
      } else {
        ctx.out->message(FlowBase{f.id, f.reopen_base, true, f.confirmed_end > f.base});
      }
      break;
    case FlowState::kActive:
      if (f.lifted_answered) {
        f.retry_at = Instant::never();
        return;
      }
      ctx.out->message(FlowLifted{f.id, f.lifted_end});
      break;
    case FlowState::kClosing:
    case FlowState::kPoisoned:
      ctx.out->message(CloseMarker{f.id});
      ctx.out->message(close_message(f));
      break;
    default:
      f.retry_at = Instant::never();
      return;
  }
  say_again_later(f, ctx);
}

}  // namespace

void open_flow(SourceFlow& f, FlowId id, const RoleCtx& ctx) {
  f.id = id;
  f.fire(FlowEvent::kOpen);
  start_handshake(f, open_message(f), ctx);
}

void on_opened(SourceFlow& f, const FlowOpened& m, const RoleCtx& ctx) {
  if (f.state != FlowState::kOpening) return;
  if (m.answer != OpenAnswer::kAccepted) {
    f.fire(m.answer == OpenAnswer::kRefused ? FlowEvent::kRefused : FlowEvent::kNotYet);
    f.open_after = ctx.now + kAskAgain;
    f.retry_at = Instant::never();
    return;
  }
  f.base_fresh = f.has_start && !f.seen;
  set_base(f, f.base_fresh ? kFirstEpoch + f.start.v : f.seen_end());
  if (f.base_fresh) f.real_ack_end = -1;
  f.fire(FlowEvent::kOpened);
  start_handshake(f, FlowBase{f.id, f.base, f.base_fresh, false}, ctx);
}

void on_base_answered(SourceFlow& f, const FlowBaseAck& m, const RoleCtx& ctx) {
  if (f.state != FlowState::kBasing || m.base != f.base) return;
  f.retry_at = Instant::never();
  if (!f.base_fresh) {
    f.fire(FlowEvent::kBaseAnswered);
    if (f.real_ack_end >= f.base) lift(f, f.real_ack_end, Msn{static_cast<uint32_t>(f.real_ack_msn)}, ctx);
    return;
  }
  // What the LAN brought out of order has passed all the same, and the far side may speak of it.
  f.raise_sent(f.seen_end());
  f.fire(FlowEvent::kBaseAnsweredFresh);
  start_handshake(f, FlowLifted{f.id, f.lifted_end}, ctx);
}

void on_real_ack_before_lift(SourceFlow& f, Seq end, Msn msn, Gate& gate, const RoleCtx& ctx) {
  if (end > f.seen_end()) {
    if (++f.strange_acks >= kContradictions) contradict(f, gate, ctx);
    return;
  }
  f.strange_acks = 0;
  if (end < f.real_ack_end) return;
  f.real_ack_end = end;
  f.real_ack_msn = msn.v;
  if (f.state == FlowState::kBarrier && end >= f.base) lift(f, end, msn, ctx);
}

void contradict(SourceFlow& f, Gate& gate, const RoleCtx& ctx) {
  if (!f.inferred) return;
  f.strange_acks = 0;
  ++ctx.n->contradictions;
  if (f.state == FlowState::kActive) {
    if (!f.draining) drain(f);
  } else if (f.state == FlowState::kPaired || f.state == FlowState::kOpening) {
    f.retry_at = Instant::never();
    f.fire(FlowEvent::kGiveUp);
  } else if (f.tracked()) {
    leave_alone(f, gate, ctx);
  }
}

void start_over(SourceFlow& f, Gate& gate, const RoleCtx& ctx) {
  f.closing_keeps = f.close_whole_qp = false;
  f.has_start = false;
  begin_close(f, FlowEvent::kForget, gate, ctx);
}

void forget_base(SourceFlow& f, Gate& gate, const RoleCtx& ctx) {
  f.no_base_below = f.seen_end();
  start_over(f, gate, ctx);
}

void leave_alone(SourceFlow& f, Gate& gate, const RoleCtx& ctx) {
  f.closing_keeps = f.close_whole_qp = false;
  f.drained = true;
  begin_close(f, FlowEvent::kGiveUp, gate, ctx);
}

void new_generation(SourceFlow& f, bool whole_qp, Gate& gate, const RoleCtx& ctx) {
  ++ctx.n->generations;
  f.reads.clear();
  f.has_start = false;
  f.seen = false;
  f.no_base_below = 0;
  f.real_ack_end = -1;  // it spoke of other PSNs
  f.fault_told = false;
  if (f.state == FlowState::kPaired || f.state == FlowState::kTransparent) {
    f.fire(FlowEvent::kNewGeneration);
    return;
  }
  f.closing_keeps = true;
  f.close_whole_qp = whole_qp;
  begin_close(f, FlowEvent::kNewGeneration, gate, ctx);
}

void end_for_good(SourceFlow& f, Gate& gate, const RoleCtx& ctx) {
  f.reads.clear();
  if (f.state == FlowState::kPaired || f.state == FlowState::kTransparent) return;
  f.closing_keeps = true;
  f.close_whole_qp = false;
  begin_close(f, FlowEvent::kNewGeneration, gate, ctx);
}

void drain(SourceFlow& f) {
  f.draining = true;
  f.plain_left = 0;
  // Nothing of it was promised, and the gap would never close: the sender sends it again.
  f.gap.clear();
  f.gap_since = Instant::never();
  f.gap_nak = SourceFlow::GapNak::kNone;
}

void order_drain(SourceFlow& f, Gate& gate, const RoleCtx& ctx) {
  switch (f.state) {
    case FlowState::kActive:
    case FlowState::kReopening:
      if (!f.draining) drain(f);
      break;
    case FlowState::kPaired:
    case FlowState::kOpening:
      f.retry_at = Instant::never();
      f.fire(FlowEvent::kGiveUp);
      break;
    case FlowState::kBasing:
    case FlowState::kBarrier:
      leave_alone(f, gate, ctx);
      break;
    case FlowState::kClosing:
      f.drained = true;
      break;
    default:
      return;  // transparent, failed, or about to be one of the two
  }
  f.by_order = true;
}

void allow_again(SourceFlow& f) {
  if (!f.by_order) return;
  f.by_order = f.draining = f.drained = false;
  if (f.state == FlowState::kTransparent) {
    f.has_start = false;
    f.fire(FlowEvent::kNewGeneration);
  }
}

void keep_until_closed(SourceFlow& f, PacketRef packet, const RoleCtx& ctx) {
  if (f.passing.size() >= kKeptWhileClosing ||
      !f.passing.push_back({std::move(packet), UINT64_MAX, Cause::kForward})) {
    ctx.n->reasons.add(Reason::kClosing);
  }
}

void finish_drain(SourceFlow& f, Gate& gate, const RoleCtx& ctx) {
  if (!f.draining || f.state != FlowState::kActive || f.owns() || !f.gap.empty()) return;
  f.closing_keeps = true;
  f.close_whole_qp = false;
  f.drained = true;
  f.draining = false;
  gate.remove(f);
  close(f, FlowEvent::kGiveUp, ctx);
}

void on_closed(SourceFlow& f, const RoleCtx& ctx) {
  if (f.state == FlowState::kPoisoned) f.retry_at = Instant::never();
  if (f.state != FlowState::kClosing) return;
  f.retry_at = Instant::never();
  f.fire(f.drained ? FlowEvent::kGiveUp : FlowEvent::kClosed);
  f.drained = f.closing_keeps = false;
  while (!f.passing.empty()) {
    ctx.out->packet(Side::kWan, f.passing.front().cause, std::move(f.passing.front().packet));
    f.passing.pop_front();
  }
}

void run_handshake_timer(SourceFlow& f, const RoleCtx& ctx) {
  if (f.retry_at > ctx.now) return;
  ++f.retry_count;
  say_now(f, ctx);
}

void say_handshake(SourceFlow& f, const RoleCtx& ctx) {
  f.retry_count = 0;
  say_now(f, ctx);
}

}  // namespace matchrdma
