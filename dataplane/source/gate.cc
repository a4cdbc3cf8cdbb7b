#include "dataplane/source/gate.h"

#include <algorithm>
#include <utility>

#include "dataplane/source/acknowledge.h"

namespace matchrdma {
namespace {

constexpr int64_t kQuantum = 9216;    // one jumbo frame, so that every visit can send
constexpr uint32_t kSmallTurns = 16;  // small flows may not starve bulk ones for ever
constexpr int64_t kFloorShare = 100;  // of the policy's rate: what an expired budget comes to (ESTIMATOR 7)

// Not below the floor, but a rate that is lower was meant.
Rate halved(Rate rate, Rate floor) { return Rate{std::max(std::min(floor.bps, rate.bps), rate.bps / 2)}; }

void enqueue(BudgetGroup& g, SourceFlow& f) {
  const bool pass = !f.passing.empty() && f.passing.front().behind <= f.admit_index();
  BudgetGroup::List* l = &g.bulk;
  f.queued = SourceFlow::Queue::kBulk;
  if (f.resend_pending > 0 || pass) {
    l = &g.urgent;
    f.queued = SourceFlow::Queue::kUrgent;
  } else if (f.window[f.admit_index()].has(Owned::kSmall)) {
    l = &g.small;
    f.queued = SourceFlow::Queue::kSmall;
  }
  if (f.in_turn) {
    l->push_front(f);
  } else {
    l->push(f);
  }
}

uint64_t next_resend(SourceFlow& f) {
  uint64_t i = std::max(f.resend_scan, f.window.begin());
  while (i < f.window.end() && !f.window[i].has(Owned::kResend)) ++i;
  f.resend_scan = i;
  return i;
}

void put_on_span(SourceFlow& f, Owned& o, Cause cause, const RoleCtx& ctx) {
  o.sent = ctx.now;
  o.flags |= Owned::kSent;
  f.note_sent(o.end(), ctx.now);
  count_admitted(*f.group, o.packet->size, ctx);
  ctx.out->packet(Side::kWan, cause, o.packet.share());
}

void admit(SourceFlow& f, const RoleCtx& ctx) {
  Owned& o = f.window[f.admit_index()];
  put_on_span(f, o, Cause::kFirst, ctx);
  f.set_admit_index(f.admit_index() + 1);
  ctx.latencies->gate_wait.add(ctx.now - o.accepted);
  f.raise_released(o.end());
  f.gate_bytes -= o.packet->size;
  f.group->backlog_bytes -= o.packet->size;
  ctx.n->gate_bytes -= o.packet->size;
  static_cast<void>(ask_if_due(f, o, ctx));
}

}  // namespace

void count_admitted(BudgetGroup& g, uint32_t bytes, const RoleCtx& ctx) {
  ctx.n->admitted_bytes += bytes;
  g.admitted_bytes += bytes;
}

uint32_t next_gate_bytes(SourceFlow& f) {
  if (f.plain_left > 0 && f.resend_pending == 0) return 0;  // nothing of a plain flow waits
  if (f.state == FlowState::kReopening) return 0;
  if (f.resend_pending > 0) {
    const uint64_t i = next_resend(f);
    if (i < f.window.end()) return f.window[i].packet->size;
  }
  if (!f.passing.empty() && f.passing.front().behind <= f.admit_index()) return f.passing.front().packet->size;
  if (f.admit_index() < f.window.end()) return f.window[f.admit_index()].packet->size;
  return 0;
}

BudgetGroup* Gate::find(const GroupKey& key) {
  const uint32_t* i = numbers_.find(key);
  return i == nullptr ? nullptr : groups_[*i].get();
}

BudgetGroup* Gate::group(const GroupKey& key, const RoleCtx& ctx) {
  if (BudgetGroup* g = find(key)) return g;
  if (groups_.size() == max_groups_) return nullptr;
  auto g = std::make_unique<BudgetGroup>();
  g->key = key;
  const FlowPolicy::Budget b = ctx.policy->budget(key);
  g->bucket = TokenBucket(b.rate, b.burst_bytes, ctx.now);
  g->floor = Rate{b.rate.bps / kFloorShare};
  g->index = static_cast<uint32_t>(groups_.size());
  numbers_.add(key, g->index);
  groups_.push_back(std::move(g));
  return groups_.back().get();
}

bool Gate::send_one(SourceFlow& f, const RoleCtx& ctx) {
  BudgetGroup& g = *f.group;
  if (f.resend_pending > 0) {
    const uint64_t i = next_resend(f);
    MRDMA_CHECK(i < f.window.end());
    Owned& o = f.window[i];
    o.flags &= static_cast<uint8_t>(~Owned::kResend);
    --f.resend_pending;
    g.bucket.charge(o.packet->size);
    put_on_span(f, o, Cause::kCustodyResend, ctx);
    ++ctx.n->custody_resends;
    return true;
  }
  if (!f.passing.empty() && f.passing.front().behind <= f.admit_index()) {
    Passing& p = f.passing.front();
    g.bucket.charge(p.packet->size);
    count_admitted(g, p.packet->size, ctx);
    f.note_passed(ctx.now);
    ctx.out->packet(Side::kWan, p.cause, std::move(p.packet));
    f.passing.pop_front();
    return true;
  }
  if (f.admit_index() >= f.window.end()) return false;
  g.bucket.charge(f.window[f.admit_index()].packet->size);
  admit(f, ctx);
  return true;
}

void Gate::serve(BudgetGroup& g, const RoleCtx& ctx) {
  g.refill(ctx.now);
  while (g.bucket.open() && !g.empty() && ctx.out->has_room()) {
    BudgetGroup::List* l = &g.urgent;
    if (l->empty()) {
      const bool bulk_turn = !g.bulk.empty() && g.small_turns >= kSmallTurns;
      l = !g.small.empty() && !bulk_turn ? &g.small : &g.bulk;
      g.small_turns = l == &g.small ? g.small_turns + 1 : 0;
    }
    SourceFlow& f = l->pop();
    f.queued = SourceFlow::Queue::kNone;
    ctx.touched->push_back(f.index);
    const int64_t quantum = kQuantum * f.weight;
    if (!std::exchange(f.in_turn, false)) f.deficit = std::min(f.deficit + quantum, 4 * quantum);
    uint32_t bytes = 0;
    while ((bytes = next_gate_bytes(f)) != 0 && f.deficit >= bytes && g.bucket.open() && ctx.out->has_room()) {
      send_one(f, ctx);
      f.deficit -= bytes;
    }
    if (bytes != 0) {
      // A small budget opens for a packet at a time: whose turn it is goes on, or all would send as many
      // packets.
      f.in_turn = f.deficit >= bytes;
      enqueue(g, f);
    } else {
      f.deficit = 0;
    }
  }
  arm(g, ctx);
}

void Gate::arm(BudgetGroup& g, const RoleCtx& ctx) {
  timers_.set(g.index, g.empty() ? Instant::never() : later(g.bucket.opens_at(), ctx.now));
}

void Gate::offer(SourceFlow& f, const RoleCtx& ctx) {
  if (next_gate_bytes(f) == 0) return;
  BudgetGroup& g = *f.group;
  if (f.queued != SourceFlow::Queue::kNone) {
    // Repair must not wait its turn behind bulk that was queued before the hole was known.
    if (f.resend_pending == 0 || f.queued == SourceFlow::Queue::kUrgent) return;
    remove(f);
  }
  const bool idle = g.empty();
  enqueue(g, f);
  if (idle) {
    serve(g, ctx);
  } else {
    arm(g, ctx);
  }
}

void Gate::run(const RoleCtx& ctx) {
  while (timers_.earliest() <= ctx.now && ctx.out->has_room()) serve(*groups_[timers_.earliest_owner()], ctx);
}

void BudgetGroup::refill(Instant now) {
  while (expires <= now) {
    const Instant at = expires;
    bucket.set_rate(halved(bucket.rate(), floor), at);
    expires = bucket.rate() > floor ? at + validity : Instant::never();
  }
  bucket.refill(now);
}

Rate BudgetGroup::rate_at(Instant now) const {
  Rate rate = bucket.rate();
  for (Instant at = expires; at <= now && rate > floor; at = at + validity) rate = halved(rate, floor);
  return rate;
}

void Gate::on_budget(const Budget& m, const RoleCtx& ctx) {
  BudgetGroup* g = find(m.group);
  if (g == nullptr) return;  // another worker sends there
  if (m.rate.bps <= 0 || m.validity.ns <= 0 || (g->told && m.seq <= g->seq)) {
    ctx.n->reasons.add(Reason::kStaleMessage);
    return;
  }
  g->refill(ctx.now);
  g->told = true;
  g->seq = m.seq;
  g->validity = m.validity;
  g->valid_until = g->expires = ctx.now + m.validity;
  g->bucket.set_rate(Rate{std::min(m.rate.bps, ctx.policy->budget(m.group).rate.bps)}, ctx.now);
  arm(*g, ctx);
}

void Gate::forget_told(const RoleCtx& ctx) {
  for (auto& g : groups_) {
    g->told = false;
    g->expires = Instant::never();
  }
  reload(ctx);
}

void Gate::reload(const RoleCtx& ctx) {
  for (auto& g : groups_) {
    const Rate rate = ctx.policy->budget(g->key).rate;
    g->refill(ctx.now);
    g->floor = Rate{rate.bps / kFloorShare};
    // What the peer told holds on, but never above the policy's.
    g->bucket.set_rate(g->told ? Rate{std::min(rate.bps, g->bucket.rate().bps)} : rate, ctx.now);
    arm(*g, ctx);
  }
}

void Gate::charge_outside(const GroupKey& key, uint32_t bytes, Instant now) {
  BudgetGroup* g = find(key);
  if (g == nullptr) return;
  g->refill(now);
  g->bucket.charge(bytes);
}

void Gate::remove(SourceFlow& f) {
  if (f.queued == SourceFlow::Queue::kNone) return;
  BudgetGroup& g = *f.group;
  for (BudgetGroup::List* l : {&g.urgent, &g.small, &g.bulk}) {
    if (l->remove(f)) break;
  }
  f.queued = SourceFlow::Queue::kNone;
  f.in_turn = false;
}

}  // namespace matchrdma
