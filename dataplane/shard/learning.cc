// The learners of PROTOCOL 3 at work, and what becomes of a pair they name.
#include <algorithm>

#include "dataplane/destination/session.h"
#include "dataplane/shard/impl.h"
#include "dataplane/source/activate.h"
#include "dataplane/wire/cm_mad.h"
#include "dataplane/wire/icrc.h"

namespace matchrdma {
namespace {

constexpr size_t kWanted = 64;
constexpr Duration kWantedFor = Duration::seconds(5);
constexpr Duration kOnPath = Duration::seconds(1);  // C10
constexpr Duration kRemembered = Duration::seconds(3600);
constexpr FlowIndex kIdlePerProbe = 64;  // records looked at per probe interval
constexpr FlowIndex kLookedAtForRoom = 4096;

}  // namespace

const char* learned_by_key(LearnedBy l) {
  static constexpr const char* kKeys[] = {"registration", "cm", "correlation", "peer", "journal"};
  return kKeys[static_cast<size_t>(l)];
}

// No state from a packet that fails its checks (PROTOCOL 8).
void Shard::Impl::watch_request(const FlowKey& key, const Frame& f, const RoleCtx& ctx) {
  if (!ctx.policy->learns() || !icrc_ok(f)) return;
  correlation.on_request(key, f, ctx.now);
}

void Shard::Impl::watch_answer(Side side, const FlowKey& key, const Frame& f, const RoleCtx& ctx) {
  if (!ctx.policy->learns() || !icrc_ok(f)) return;
  const auto pair = correlation.on_answer(key, f, side == Side::kLan, ctx.now, ctx.rtt);
  if (pair) found(*pair, LearnedBy::kCorrelation, ctx);
}

void Shard::Impl::on_cm(Side side, const Frame& f, PacketRef packet, const RoleCtx& ctx) {
  const auto mad = icrc_ok(f) ? parse_cm_mad(f) : std::nullopt;
  if (mad) {
    if (mad->attribute == CmMad::kDreq) {
      FlowKey key = FlowKey::of(f, 0);
      key.dst_qpn = mad->qpn;
      if (const FlowIndex i = table.find(key); i != kNoFlow) {
        hold_dreq(side, i, std::move(packet), ctx);
        return;
      }
    }
    const auto pair = ctx.policy->learns() ? cm.on_mad(*mad, f, side == Side::kLan, ctx.now) : std::nullopt;
    if (pair) found(*pair, LearnedBy::kCm, ctx);
  }
  n.reasons.add(Reason::kUd);
  pass(side, f, std::move(packet), ctx);
}

void Shard::Impl::found(Registration pair, LearnedBy by, const RoleCtx& ctx) {
  bool taken = false;
  for (const bool from_a : {true, false}) {
    const FlowIndex i = table.find(pair.flow(from_a));
    if (i == kNoFlow || find_flow(pair, from_a) != kNoFlow) continue;
    // The QPN has another peer now: the old pair is over (C4), and ends at both proxies before the new one
    // begins.
    taken = true;
    const FlowRecord& r = records[i];
    retire(r.source ? *r.source : *records[r.reverse].source, ctx);
  }
  if (taken) {
    if (wanted.size() < kWanted) wanted.push_back({pair, by, ctx.now + kWantedFor});
    return;
  }
  if (learn(pair, true, by, ctx) != Registered::kYes) return;
  correlation.forget(pair);
  ++n.pairs_learned;
  if (by == LearnedBy::kCm) open_started(pair, ctx);
}

// The pair is forgotten at both proxies, and what its source owns with it.
void Shard::Impl::retire(const SourceFlow& f, const RoleCtx& ctx) {
  ++n.generations;
  ask(Registration::of(f.key, f.sender_qpn), true, ctx);
}

void Shard::Impl::run_wanted(const RoleCtx& ctx) {
  for (size_t k = 0; k < wanted.size(); ++k) {
    const Wanted w = wanted[k];
    const bool free = !asked.unregistering();
    if (!free && w.until > ctx.now) continue;
    wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(k--));
    if (free) found(w.pair, w.by, ctx);
  }
}

// C10: an inferred pair is opened only where its requests leave and its answers enter.
bool Shard::Impl::seen_on_path(const FlowOpen& m, const FlowRecord* r, const RoleCtx& ctx) const {
  if (m.vouched || m.again) return true;
  if (r != nullptr) {
    const DestinationFlow& d = *r->destination;
    return earlier(d.request_seen, d.answer_seen) + kOnPath >= ctx.now;
  }
  return correlation.on_path(m.key, Registration::of(m.key, m.sender_qpn).flow(false), ctx.now);
}

void Shard::Impl::on_flow_open(const FlowOpen& m, const RoleCtx& ctx) {
  FlowIndex i = table.find(m.key);
  FlowRecord* r = record(i);
  if (r != nullptr && (!r->destination || r->destination->sender_qpn != m.sender_qpn)) {
    ctx.out->message(FlowOpened{m.id, OpenAnswer::kRefused});
    return;
  }
  if (!seen_on_path(m, r, ctx)) {
    ctx.out->message(FlowOpened{m.id, OpenAnswer::kNotOnPath});
    return;
  }
  if (r == nullptr) {
    Registration pair = Registration::of(m.key, m.sender_qpn);
    std::swap(pair.a, pair.b);  // its sender stands at the peer
    pair.credits = m.credits;
    if (m.again) make_room(ctx);
    const LearnedBy by = m.vouched || m.again ? LearnedBy::kPeer : LearnedBy::kCorrelation;
    if (learn(pair, true, by, ctx) != Registered::kYes) {
      ctx.out->message(FlowOpened{m.id, OpenAnswer::kRefused});
      return;
    }
    correlation.forget(pair);
    i = table.find(m.key);
    r = record(i);
  }
  if (r->destination->id != m.id) ids.erase(r->destination->id);
  ids.put(m.id, i);
  on_open(*r->destination, m, egress, ctx);
  touch(i);
}

// Nothing is promised to it or kept for it.
bool Shard::Impl::rests(FlowIndex i) const {
  const FlowRecord& r = records[i];
  if (!r.source || r.reverse == kNoFlow) return false;
  const DestState to = records[r.reverse].destination->state;
  return (r.source->state == FlowState::kPaired || r.source->state == FlowState::kTransparent) &&
         (to == DestState::kIdle || to == DestState::kOpened);
}

void Shard::Impl::forget(const FlowRecord& r, const RoleCtx& ctx) {
  const Registration pair = Registration::of(r.source->key, r.source->sender_qpn);
  if (const Asked* a = asked.find(pair); a != nullptr && !a->unregister) asked.erase(pair);
  unlearn(pair, ctx);
}

FlowIndex Shard::Impl::next_by_hand() {
  return idle_hand = (idle_hand + 1) % static_cast<FlowIndex>(records.size());
}

// A pair without traffic is remembered for an hour (PROTOCOL 3), a registered one as long as its lease.
void Shard::Impl::forget_idle(const RoleCtx& ctx) {
  for (FlowIndex k = std::min(kIdlePerProbe, static_cast<FlowIndex>(records.size())); k > 0; --k) {
    const FlowIndex i = next_by_hand();
    if (!rests(i)) continue;
    const FlowRecord& r = records[i];
    const Duration remembered = r.by == LearnedBy::kRegistration ? ctx.timing->registration_lease : kRemembered;
    if (later(r.last, records[r.reverse].last) + remembered <= ctx.now) forget(r, ctx);
  }
}

// What the peer has in custody comes before what is only known. Refused, it asks again: the hand goes on.
void Shard::Impl::make_room(const RoleCtx& ctx) {
  for (FlowIndex k = std::min(kLookedAtForRoom, static_cast<FlowIndex>(records.size())); k > 0; --k) {
    if (table_has_room()) return;
    const FlowIndex i = next_by_hand();
    if (rests(i) && records[records[i].reverse].destination->state == DestState::kIdle) forget(records[i], ctx);
  }
}

}  // namespace matchrdma
