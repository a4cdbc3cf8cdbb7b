// What an operator decides for flows, and when it is asked for (PROTOCOL 4, traffic classes).
#include "dataplane/shard/impl.h"
#include "dataplane/source/activate.h"

namespace matchrdma {

// The class may depend on the DSCP, which only a request of the flow shows.
void Shard::Impl::on_first_request(FlowIndex i, const Frame& f, const RoleCtx& ctx) {
  records[i].policy_asked = true;
  records[i].dscp = static_cast<uint8_t>(f.traffic_class() >> 2);
  ask_policy(i, ctx);
}

void Shard::Impl::ask_policy(FlowIndex i, const RoleCtx& ctx) {
  FlowRecord& r = records[i];
  SourceFlow& f = *r.source;
  if (r.by == LearnedBy::kJournal) return;
  f.weight = ctx.policy->weight(f.key, r.dscp);
  const Completion asked_for = ctx.policy->completion(f.key, r.dscp, r.registered);
  if (asked_for == f.completion && f.state != FlowState::kTransparent) return;
  if (asked_for == Completion::kTransparent) {
    order_drain(f, gate, ctx);
  } else {
    if (!f.owns()) f.completion = asked_for;
    allow_again(f);
  }
  touch(i);
}

void Shard::set_tuning(const Timing& timing, const Tuning& tuning, Instant now, Outbox& out) {
  Impl& s = *impl_;
  s.config.timing = timing;
  s.config.tuning = tuning;
  s.egress.reload(s.context(now, out));
}

void Shard::set_policy(const FlowPolicy* policy, Instant now, Outbox& out) {
  Impl& s = *impl_;
  s.config.policy = policy;
  const RoleCtx ctx = s.context(now, out);
  for (FlowIndex i = 0; i < s.records.size(); ++i) {
    if (s.records[i].source) s.ask_policy(i, ctx);
  }
  s.gate.reload(ctx);
  s.settle_dirty(ctx);
}

}  // namespace matchrdma
