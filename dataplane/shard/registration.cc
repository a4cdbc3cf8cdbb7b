// Learner 3 of PROTOCOL 3: an orchestrator or the host library names a QP pair.
#include <algorithm>

#include "dataplane/destination/settle.h"
#include "dataplane/shard/impl.h"
#include "dataplane/source/activate.h"
#include "dataplane/source/custody.h"

namespace matchrdma {
namespace {

bool plausible(const Registration& r) {
  return r.a.qpn.v <= 0xffffff && r.b.qpn.v <= 0xffffff && !(r.a.ip == r.b.ip && r.a.qpn == r.b.qpn);
}

// On the wire a registration names the end of whoever says it first, so that the peer knows its side.
Registration own_end_first(const Registration& reg, bool local_a) {
  Registration mine = reg;
  if (!local_a) std::swap(mine.a, mine.b);
  return mine;
}

}  // namespace

// What was inferred, or told by the peer, has a witness now.
void Shard::Impl::vouch(FlowRecord& r, const Registration::End& from, LearnedBy by) {
  r.named = from;
  r.by = by;
  if (r.destination) r.destination->inferred = false;
  if (!r.source) return;
  SourceFlow& f = *r.source;
  f.inferred = false;
  f.vouched = true;
  f.has_start = f.state == FlowState::kPaired && !f.seen;
  f.start = from.start;
  f.start_msn = from.msn;
}

FlowIndex Shard::Impl::learn_flow(const Registration& reg, bool from_a, bool source_here, LearnedBy by,
                                  const RoleCtx& ctx) {
  const FlowKey key = reg.flow(from_a);
  const Registration::End& from = from_a ? reg.a : reg.b;
  const bool known = table.find(key) != kNoFlow;
  const FlowIndex i = table.insert(key);
  if (i == kNoFlow || known) return i;
  if (i == records.size()) records.emplace_back();
  FlowRecord& r = records[i];
  r.named = from;
  r.registered_seq = 0;
  r.by = by;
  r.policy_asked = false;
  r.failed = false;
  r.registered = by == LearnedBy::kRegistration ? reg.completion : std::nullopt;
  r.last = ctx.now;
  const bool inferred = by == LearnedBy::kCorrelation;
  if (source_here) {
    r.source = std::make_unique<SourceFlow>(source_pools);
    SourceFlow& f = *r.source;
    f.key = key;
    f.index = i;
    f.sender_qpn = from.qpn;
    f.path_mtu = reg.path_mtu;
    // The class may depend on the DSCP: the first request asks again (ask_policy).
    f.completion = reg.completion ? *reg.completion : ctx.policy->completion(key, 0, std::nullopt);
    f.credits_used = reg.credits;
    f.inferred = inferred;
    f.vouched = by == LearnedBy::kRegistration || by == LearnedBy::kCm;
    f.has_start = from.has_start;
    f.start = from.start;
    f.start_msn = from.msn;
  } else {
    r.destination = std::make_unique<DestinationFlow>(destination_pools);
    DestinationFlow& f = *r.destination;
    f.key = key;
    f.index = i;
    f.sender_qpn = from.qpn;
    f.path_mtu = reg.path_mtu;
    f.inferred = inferred;
    f.request_seen = f.answer_seen = ctx.now;
  }
  return i;
}

// The flow of the pair, if its key is known with this sender.
FlowIndex Shard::Impl::find_flow(const Registration& reg, bool from_a) const {
  const FlowIndex i = table.find(reg.flow(from_a));
  return i != kNoFlow && records[i].named.qpn == (from_a ? reg.a : reg.b).qpn ? i : kNoFlow;
}

Registered Shard::Impl::learn(const Registration& reg, bool local_a, LearnedBy by, const RoleCtx& ctx) {
  if (!plausible(reg)) return Registered::kNonsense;
  for (const bool from_a : {true, false}) {
    const FlowRecord* r = record(table.find(reg.flow(from_a)));
    if (r == nullptr) continue;
    const bool same_side = (r->source != nullptr) == (from_a == local_a);
    if (r->named.qpn != (from_a ? reg.a : reg.b).qpn || !same_side) return Registered::kOtherPartner;
  }
  if (!table_has_room() && table.find(reg.flow(true)) == kNoFlow) {
    n.reasons.add(Reason::kFlowLimit);
    return Registered::kNoRoom;
  }
  const FlowIndex ab = learn_flow(reg, true, local_a, by, ctx);
  const FlowIndex ba = learn_flow(reg, false, !local_a, by, ctx);
  records[ab].reverse = ba;
  records[ba].reverse = ab;
  for (const bool from_a : {true, false}) {
    FlowRecord& r = records[from_a ? ab : ba];
    const Registration::End& from = from_a ? reg.a : reg.b;
    r.last = ctx.now;
    if (r.named == from || !from.has_start) continue;
    if (!r.named.has_start) {
      vouch(r, from, by);
      continue;
    }
    // Another starting PSN under the same names: the QP was reset, and its old life ends here (C4).
    r.named = from;
    if (!r.source) continue;
    new_generation(*r.source, true, gate, ctx);
    touch(r.source->index);
  }
  return Registered::kYes;
}

void Shard::Impl::open_started(const Registration& reg, const RoleCtx& ctx) {
  if (draining()) return;
  for (const bool from_a : {true, false}) {
    const FlowIndex i = table.find(reg.flow(from_a));
    FlowRecord* r = record(i);
    if (r == nullptr || !r->source || !r->source->has_start || r->source->state != FlowState::kPaired) continue;
    if (r->source->completion == Completion::kTransparent) continue;
    open(*r->source, ctx);
  }
}

void Shard::Impl::unlearn(const Registration& reg, const RoleCtx& ctx) {
  for (const bool from_a : {true, false}) {
    const FlowIndex i = find_flow(reg, from_a);
    if (i == kNoFlow) continue;
    FlowRecord& r = records[i];
    if (r.source) {
      discard_owned(*r.source, gate, ctx);
      r.source->state = FlowState::kTransparent;
      write_journal(*r.source, ctx);
      ids.erase(r.source->id);
      r.source.reset();
    } else {
      discard_held(*r.destination, egress, ctx);
      ids.erase(r.destination->id);
      r.destination.reset();
    }
    r.reverse = kNoFlow;
    timers.set(i, Instant::never());
    table.erase(i);
  }
}

// What the local source owns of the pair is destroyed, at the far side too. True when the far side has
// answered: nothing of the old life is on the span any more.
bool Shard::Impl::ended(const Registration& reg, const RoleCtx& ctx) {
  for (const bool from_a : {true, false}) {
    FlowRecord* r = record(find_flow(reg, from_a));
    if (r == nullptr || !r->source) continue;
    SourceFlow& f = *r->source;
    if (f.completion != Completion::kTransparent) {
      f.completion = Completion::kTransparent;  // what still comes is not ours
      end_for_good(f, gate, ctx);
      touch(f.index);
    }
    if (f.state == FlowState::kClosing) return false;
  }
  return true;
}

// What is `a` here was `a` there: whoever asks names its own end first.
void Shard::Impl::on_register(const RegisterQp& m, const RoleCtx& ctx) {
  const FlowRecord* known = record(table.find(m.reg.flow(true)));
  const uint64_t newest = std::max(unregistered_seq, known == nullptr ? 0 : known->registered_seq);
  if (m.seq < newest || !legal_path_mtu(m.reg.path_mtu)) return;
  if (learn(m.reg, false, LearnedBy::kRegistration, ctx) != Registered::kYes) return;
  for (const bool from_a : {true, false}) records[table.find(m.reg.flow(from_a))].registered_seq = m.seq;
  correlation.forget(m.reg);
  ctx.out->message(RegisterQpAck{m.reg});
  open_started(m.reg, ctx);
}

void Shard::Impl::on_unregister(const UnregisterQp& m, const RoleCtx& ctx) {
  const FlowRecord* r = record(find_flow(m.reg, true));
  if (r != nullptr && r->registered_seq > m.seq) return;
  if (!ended(m.reg, ctx)) return;  // answered when asked again
  unregistered_seq = std::max(unregistered_seq, m.seq);
  unlearn(m.reg, ctx);
  ctx.out->message(UnregisterQpAck{m.reg});
}

void Shard::Impl::answered(const Registration& reg, bool unregister, const RoleCtx& ctx) {
  const Asked* found = asked.find(reg);
  if (found == nullptr || !(found->reg == reg) || found->unregister != unregister || found->answered) return;
  if (unregister) {
    asked.erase(reg);
    unlearn(reg, ctx);
    return;
  }
  Asked a = *found;
  a.answered = true;
  asked.update(a);
  open_started(reg, ctx);
}

void Shard::Impl::ask(const Registration& reg, bool unregister, const RoleCtx& ctx) {
  asked.put({reg, unregister, false, ctx.now, ctx.now});
  say(reg, ctx);
}

void Shard::Impl::say(const Registration& pair, const RoleCtx& ctx) {
  Asked a = *asked.find(pair);
  a.answered = false;
  a.said = ctx.now;
  a.retry_at = ctx.now + ctx.answer_wait();
  asked.update(a);
  if (a.unregister && !ended(a.reg, ctx)) return;  // its FLOW_CLOSE is repeated meanwhile
  if (a.unregister) {
    ctx.out->message(UnregisterQp{a.reg, ++ask_seq});
  } else {
    ctx.out->message(RegisterQp{a.reg, ++ask_seq});
  }
}

Registered Shard::register_qp(const Registration& reg, bool local_a, Instant now, Outbox& out) {
  const Registration mine = own_end_first(reg, local_a);
  const RoleCtx ctx = impl_->context(now, out);
  if (!legal_path_mtu(mine.path_mtu)) return Registered::kNonsense;
  if (!unregistered(mine)) return Registered::kEnding;
  const Registered taken = impl_->learn(mine, true, LearnedBy::kRegistration, ctx);
  if (taken != Registered::kYes) return taken;
  impl_->correlation.forget(mine);
  if (const Asked* a = impl_->asked.find(mine); a != nullptr && a->reg == mine) {
    // The peer's lease is renewed too, but not by every repetition.
    if (a->answered && a->said + impl_->config.timing.registration_lease / 8 <= now) impl_->say(mine, ctx);
    return Registered::kYes;
  }
  impl_->ask(mine, false, ctx);
  return Registered::kYes;
}

void Shard::unregister_qp(const Registration& reg, bool local_a, Instant now, Outbox& out) {
  const Registration mine = own_end_first(reg, local_a);
  const RoleCtx ctx = impl_->context(now, out);
  impl_->ask(mine, true, ctx);
}

bool Shard::unregistered(const Registration& reg) const {
  for (const Registration& r : {reg, own_end_first(reg, false)}) {
    const Asked* a = impl_->asked.find(r);
    if (a != nullptr && a->unregister && a->reg == r) return false;
  }
  return true;
}

bool Shard::registered(const Registration& reg) const {
  for (const bool swapped : {false, true}) {
    const Registration mine = own_end_first(reg, !swapped);
    for (const bool from_a : {true, false}) {
      const FlowIndex i = impl_->table.find(mine.flow(from_a));
      if (i == kNoFlow) return false;
      const FlowRecord& r = impl_->records[i];
      // C4: the far side may still deliver what is left of the life before.
      if (r.source && r.source->state == FlowState::kClosing) return false;
      if (r.source && r.source->has_start && r.source->completion != Completion::kTransparent &&
          r.source->state != FlowState::kActive) {
        return false;
      }
    }
    const Asked* a = impl_->asked.find(mine);
    if (a != nullptr && a->reg == mine && (!a->answered || a->unregister)) return false;
  }
  return true;
}

}  // namespace matchrdma
