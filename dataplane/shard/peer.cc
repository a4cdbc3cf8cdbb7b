// The peer of this shard: is it there, how far is it, and what was asked of it.
#include "dataplane/destination/settle.h"
#include "dataplane/shard/impl.h"
#include "dataplane/source/activate.h"
#include "dataplane/source/custody.h"
#include "dataplane/source/reopen.h"

namespace matchrdma {

void Shard::Impl::run_peer_timer(const RoleCtx& ctx) {
  if (!ctx.peer_up && !peer_lost) {
    peer_lost = true;
    custody_until = ctx.now + ctx.timing->custody_max_age;
    on_peer_lost(ctx);
  }
  if (!peer_lost) custody_until = Instant::never();
  run_custody_age(ctx);
  for (const Asked* a = asked.first_due(); a != nullptr && a->retry_at <= ctx.now && ctx.out->has_room();
       a = asked.first_due()) {
    say(a->reg, ctx);
  }
  if (!drain_told && drain_retry_at <= ctx.now) say_drain(ctx);
  if (table.size() == 0) {
    next_probe = Instant::never();  // nobody to probe for, and no deadline that passes in vain
    return;
  }
  if (!next_probe.is_never() && next_probe > ctx.now) return;
  ctx.out->message(Probe{ctx.now});
  next_probe = ctx.now + ctx.timing->probe_interval;
  forget_idle(ctx);
}

// PROTOCOL 8, span down: no promise to anybody until the peer is back. What was acknowledged is kept, the rest
// is the sender's again; a flow that owes nothing starts over and passes meanwhile.
void Shard::Impl::on_peer_lost(const RoleCtx& ctx) {
  for (FlowIndex i = 0; i < records.size(); ++i) {
    SourceFlow* f = records[i].source.get();
    if (f == nullptr || f->state != FlowState::kActive) continue;
    discard_unacknowledged(*f, gate, ctx);
    if (!f->owns()) start_over(*f, gate, ctx);
    touch(i);
    arm(i, ctx);
  }
}

// PROTOCOL 3, bounds in time: custody for a peer that does not come back ends in a fault.
void Shard::Impl::run_custody_age(const RoleCtx& ctx) {
  if (custody_until > ctx.now) return;
  custody_until = Instant::never();
  for (FlowIndex i = 0; i < records.size(); ++i) {
    if (records[i].source && records[i].source->owns()) poison_qp(i, kNakRemoteOperation, ctx);
  }
}

// PROTOCOL 8, destination proxy restarts. As a source it has lost what it owned: its flows begin anew.
void Shard::Impl::on_peer_started(const RoleCtx& ctx) {
  unregistered_seq = 0;
  rtt_count = 0;
  for (FlowIndex i = 0; i < records.size(); ++i) {
    FlowRecord& r = records[i];
    r.registered_seq = 0;
    if (r.destination) {
      discard_held(*r.destination, egress, ctx);
      ids.erase(r.destination->id);
      r.destination->fault_retry_at = Instant::never();
      r.destination->state = DestState::kIdle;
    } else if (r.source) {
      restart(*r.source, ctx);
    }
    touch(i);
  }
  gate.forget_told(ctx);
  asked.forget_answers(ctx.now);
  if (drain_there) on_drain(Drain{false}, ctx);  // who asked for it is gone
  if (drain_here) say_drain(ctx);
}

// A source flow whose far side has forgotten it.
void Shard::Impl::restart(SourceFlow& f, const RoleCtx& ctx) {
  switch (f.state) {
    case FlowState::kClosing:
      on_closed(f, ctx);  // a new session is an answer (C4)
      return;
    case FlowState::kActive:
    case FlowState::kReopening:
      if (f.owns()) {
        ids.erase(f.id);
        reopen(f, new_id(f.index), gate, ctx);
        return;
      }
      [[fallthrough]];
    case FlowState::kBasing:
    case FlowState::kBarrier:
      start_over(f, gate, ctx);
      on_closed(f, ctx);
      return;
    case FlowState::kOpening:
      f.retry_at = Instant::never();
      f.fire(FlowEvent::kNotYet);
      return;
    default:
      return;
  }
}

Instant Shard::Impl::peer_deadline() const {
  Instant at = earlier(next_probe, custody_until);
  if (!last_heard.is_never() && !peer_lost) at = earlier(at, last_heard + config.timing.peer_timeout);
  if (const Asked* a = asked.first_due()) at = earlier(at, a->retry_at);
  if (!drain_told) at = earlier(at, drain_retry_at);
  for (const HeldDreq& h : held_dreqs) at = earlier(at, h.until);
  for (const Wanted& w : wanted) at = earlier(at, w.until);
  return at;
}

void Shard::peer_session(bool started, Instant now, Outbox& out) {
  if (!started) return;
  const RoleCtx ctx = impl_->context(now, out);
  impl_->on_peer_started(ctx);
  impl_->settle_dirty(ctx);
}

}  // namespace matchrdma
