// Drain (PROTOCOL 8): no new custody on either side of the span, and what is owned is delivered.
#include <algorithm>

#include "dataplane/shard/impl.h"
#include "dataplane/source/activate.h"

namespace matchrdma {

void Shard::Impl::drain_all(const RoleCtx& ctx) {
  for (FlowIndex i = 0; i < records.size(); ++i) {
    if (!records[i].source) continue;
    if (draining()) {
      order_drain(*records[i].source, gate, ctx);
    } else {
      allow_again(*records[i].source);
    }
    touch(i);
  }
}

bool Shard::Impl::rests() const {
  return std::all_of(records.begin(), records.end(), [](const FlowRecord& r) {
    return !r.source || (!r.source->owns() && r.source->passing.empty() && !r.source->tracked() &&
                         r.source->state != FlowState::kClosing && r.source->state != FlowState::kDoubted);
  });
}

void Shard::Impl::on_drain(const Drain& m, const RoleCtx& ctx) {
  if (drain_there != m.on) {
    drain_there = m.on;
    drain_all(ctx);
  }
  if (!m.on || rests()) ctx.out->message(DrainAck{m.on});  // asked again until then
}

void Shard::Impl::say_drain(const RoleCtx& ctx) {
  ctx.out->message(Drain{drain_here});
  drain_told = false;
  drain_retry_at = ctx.now + ctx.answer_wait();
}

void Shard::drain(bool on, Instant now, Outbox& out) {
  Impl& s = *impl_;
  if (s.drain_here == on) return;
  s.drain_here = on;
  const RoleCtx ctx = s.context(now, out);
  s.drain_all(ctx);
  s.say_drain(ctx);
  s.settle_dirty(ctx);
}

bool Shard::drained() const { return impl_->drain_here && impl_->drain_told && impl_->rests(); }

bool Shard::drain_flow(const FlowKey& key, Instant now, Outbox& out) {
  Impl& s = *impl_;
  const FlowIndex i = s.table.find(key);
  if (i == kNoFlow || !s.records[i].source) return false;
  const RoleCtx ctx = s.context(now, out);
  order_drain(*s.records[i].source, s.gate, ctx);
  s.touch(i);
  s.settle_dirty(ctx);
  return true;
}

void Shard::drain_flows(const FlowPolicy& transparent, Instant now, Outbox& out) {
  Impl& s = *impl_;
  const RoleCtx ctx = s.context(now, out);
  for (FlowIndex i = 0; i < s.records.size(); ++i) {
    const FlowRecord& r = s.records[i];
    if (!r.source || transparent.completion(r.source->key, r.dscp, r.registered) != Completion::kTransparent)
      continue;
    order_drain(*r.source, s.gate, ctx);
    s.touch(i);
  }
  s.settle_dirty(ctx);
}

}  // namespace matchrdma
