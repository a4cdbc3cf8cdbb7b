// The peer of this shard: is it there, how far is it, and what was asked of it.
#include "dataplane/shard/impl.h"
#include "dataplane/source/activate.h"
#include "dataplane/source/custody.h"

namespace matchrdma {

void Shard::Impl::run_peer_timer(const RoleCtx& ctx) {
  if (!ctx.peer_up && !peer_lost) {
    peer_lost = true;
    on_peer_lost(ctx);
  }
  for (Asked& a : asked) {
    if (!a.answered && a.retry_at <= ctx.now) say(a, ctx);
  }
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

Instant Shard::Impl::peer_deadline() const {
  Instant at = next_probe;
  if (!last_heard.is_never() && !peer_lost) at = earlier(at, last_heard + config.timing.peer_timeout);
  for (const Asked& a : asked) {
    if (!a.answered) at = earlier(at, a.retry_at);
  }
  for (const HeldDreq& h : held_dreqs) at = earlier(at, h.until);
  for (const Wanted& w : wanted) at = earlier(at, w.until);
  return at;
}

}  // namespace matchrdma
