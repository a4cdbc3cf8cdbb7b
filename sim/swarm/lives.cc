#include <algorithm>

#include "sim/swarm/world.h"

namespace matchrdma::swarm {
namespace {

constexpr Duration kPatience = Duration::seconds(2);  // far more than handshakes take over any of these spans

}  // namespace

// A dead proxy takes in nothing and lets nothing through. True: it is back at this time.
bool World::returns_now(Proxy& p) {
  if (p.dies_at <= now_) {
    p.dies_at = Instant::never();
    p.back_at = now_ + p.away;
  }
  if (p.alive()) return false;
  p.rx.clear();
  p.hostile.clear();
  p.messages.clear();
  if (p.back_at > now_) return false;
  p.back_at = Instant::never();
  return true;
}

// The next life of a proxy has a session of its own.
void World::restart_due() {
  const bool a = returns_now(pa_), b = returns_now(pb_);
  if (!a && !b) return;
  ++session_;
  if (a) pa_.begin_life(o_, 1'000 + session_, arena_);
  if (b) pb_.begin_life(o_, 2 + session_, arena_);
  ++met_[a ? Event::kRestartA : Event::kRestartB];
  for (Proxy* p : {&pa_, &pb_}) {
    p->shard.peer_session(true, proxy_now(), p->out);
    emit(*p);
  }
  if (a) after_restart_of_a();
}

// H13: exactly what the journal names fails. The orchestrator registers all pairs again, in the middle of their
// flows.
void World::after_restart_of_a() {
  for (const JournalRecord& r : pa_.promises()) {
    for (Pair& w : pairs_) {
      if (registration(w.now).flow(true) == r.key) w.may_fail = true;
    }
    ++met_[Event::kBrokenPromise];
    if (!pa_.shard.poison_journaled(r, proxy_now(), pa_.out)) complain("no room for the journal");
  }
  for (Pair& w : pairs_) {
    if (w.now.join == Join::kNever || !w.register_at.is_never() || o_.transparent) continue;
    Registration r = registration(w.now);
    r.a.has_start = r.b.has_start = false;
    pa_.shard.register_qp(r, true, proxy_now(), pa_.out);
  }
  emit(pa_);
}

// Its host destroys the QP at both ends.
void World::fence(Pair& w) {
  w.reset_at = Instant::never();
  if (w.qps.a->failed() || w.qps.b->failed() || !w.known) return;
  model::AuditOptions audit;
  audit.complete = false;
  audit.completion_after_execution = w.now.completion == Completion::kEndToEnd;
  const std::string bad = model::audit(w.qps, audit, now_);
  if (!bad.empty()) complain("before its reset: " + bad);
  std::erase_if(flow_senders_, [&](const auto& f) { return f.second == w.qps.a || f.second == w.qps.b; });
  a_[w.now.host_a]->remove_qp(w.now.pair.qpn_a);
  b_[w.now.host_b]->remove_qp(w.now.pair.qpn_b);
  w.qps = {};
  w.life = Life::kFenced;
  // Both hosts tell each other their new numbers: a round trip, in which the wires run empty.
  w.quiet_until = now_ +
                  (o_.wan.delay + o_.wan.reorder_extra + o_.lan.delay * 2 + o_.lan.reorder_extra * 2) * 2 +
                  Duration::millis(1);
  if (w.now.reset == Reset::kUnregister) {
    pa_.shard.unregister_qp(registration(w.now), true, proxy_now(), pa_.out);
    emit(pa_);
  }
}

// The same numbers, other PSNs, other bytes: whatever is left of the old life would be seen.
void World::announce(Pair& w) {
  model::PairConfig& c = w.now.pair;
  for (Psn* start : {&c.start_a, &c.start_b})
    *start = wire_psn(start->v + lives_.between(0x600000, 0xa00000));  // farther than any window (H18)
  c.seed = lives_.next() >> 8;
  c.memory_a.key = lives_.next();
  c.memory_b.key = lives_.next();
  w.known = pa_.shard.register_qp(registration(w.now), true, proxy_now(), pa_.out) == Registered::kYes;
  if (!w.known && !o_.scarce) complain("a QP that was reset cannot be registered again");
  emit(pa_);
  w.life = Life::kAnnounced;
  if (o_.scarce) w.patience = now_ + kPatience;
}

// The hosts connect when both proxies have ended the old life and know the new one.
void World::begin_again(Pair& w) {
  const Registration r = registration(w.now);
  pa_.watch.forget(r.flow(true));
  pb_.watch.forget(r.flow(false));
  connect(w);
  w.left_a = lives_.between(1, 6);
  w.left_b = w.now.work_b > 0 ? lives_.between(0, 4) : 0;
  w.life = Life::kSettled;
  w.patience = Instant::never();
  w.next_post = now_;
  ++met_[w.now.reset == Reset::kUnregister ? Event::kUnregister : Event::kRegister];
}

void World::resets_due() {
  if (!started_) return;
  for (Pair& w : pairs_) {
    if (w.reset_at <= now_) fence(w);
    const Registration r = registration(w.now);
    if (w.life == Life::kFenced && w.quiet_until <= now_) w.quiet_until = Instant::never();
    if (w.life == Life::kFenced && w.quiet_until.is_never() && pa_.shard.unregistered(r)) announce(w);
    if (w.life == Life::kAnnounced && answered(w)) begin_again(w);
  }
}

}  // namespace matchrdma::swarm
