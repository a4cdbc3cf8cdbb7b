#include <algorithm>

#include "model/workload.h"
#include "sim/swarm/world.h"

namespace matchrdma::swarm {
namespace {

// Half of all messages may be lost, and a question is asked again ever more rarely (seed 1107741742).
constexpr Duration kHandshakes = Duration::seconds(600);

bool fresh(const PairOptions& p) { return p.join == Join::kFresh; }

}  // namespace

Registration registration(const PairOptions& p) {
  Registration r;
  r.a = {p.pair.path.src, p.pair.qpn_a, fresh(p), p.pair.start_a, 0};
  r.b = {p.pair.path.dst, p.pair.qpn_b, fresh(p), p.pair.start_b, 0};
  r.vlan_outer = p.pair.path.vlan_tags > 0 ? p.pair.path.vlan_tci[0] & 0xfff : 0;
  r.vlan_inner = p.pair.path.vlan_tags > 1 ? p.pair.path.vlan_tci[1] & 0xfff : 0;
  r.path_mtu = p.pair.path_mtu;
  r.credits = p.pair.requester_a.use_credits;
  r.completion = p.completion;
  return r;
}

// The sender's own view of a READ-class request.
bool World::waits(const FlowKey& flow, Psn psn) const {
  for (const auto& [key, qp] : flow_senders_) {
    if (!(key == flow)) continue;
    for (const model::RcRequester::Record& r : qp->requester.records()) {
      if (wire_psn(r.first) == psn) return r.status == model::WcStatus::kPending;
    }
  }
  return false;
}

void World::connect(Pair& w) {
  const PairOptions& p = w.now;
  w.qps = model::connect(*a_[p.host_a], *b_[p.host_b], p.pair);
  w.left_a = p.work_a;
  w.left_b = p.work_b;
  const Registration r = registration(p);
  const FlowKey ab = r.flow(true), ba = r.flow(false);
  pa_.watch.pair(ba, ab, p.pair.path_mtu);
  pb_.watch.pair(ab, ba, p.pair.path_mtu);
  flow_senders_.push_back({ab, w.qps.a});
  flow_senders_.push_back({ba, w.qps.b});
}

void World::connect_all() {
  for (Proxy* p : {&pa_, &pb_}) {
    p->watch.set_waits([this](const FlowKey& flow, Psn psn) { return waits(flow, psn); });
  }
  for (const PairOptions& p : o_.pairs) {
    Pair w;
    w.now = p;
    connect(w);
    if (p.fatal != 0) {
      w.qps.b->responder.inject_nak(p.fatal, p.pair.start_a.v + prng_.between(0, p.work_a));
      ++met_[Event::kFatal];
    }
    if (p.join == Join::kMidFlow && !o_.transparent)
      w.register_at = Instant{prng_.between(500'000, 15'000'000)};
    pairs_.push_back(std::move(w));
  }
}

// Both proxies have answered; or they have no room for a flow of it, and are not about to open it.
bool World::answered(const Pair& w) const {
  const Registration r = registration(w.now);
  if (!w.known || (pa_.shard.registered(r) && pb_.shard.registered(r))) return true;
  if (!o_.scarce) return false;
  // What is at rest may be the life before (seed 3633958436), or nobody has room for either flow (3633957912).
  if (w.life == Life::kAnnounced) return now_ >= w.patience;
  const auto at_rest = [](const std::optional<FlowView>& v) {
    return v && std::string_view(v->state) != "opening" && std::string_view(v->state) != "basing" &&
           std::string_view(v->state) != "closing";
  };
  return at_rest(pa_.shard.flow(r.flow(true))) && at_rest(pb_.shard.flow(r.flow(false)));
}

// Registrations of fresh connections are answered before their first packet, over the lossy span.
bool World::handshakes() {
  if (o_.transparent) return true;
  for (Pair& w : pairs_) {
    if (!fresh(w.now)) continue;
    w.known = pa_.shard.register_qp(registration(w.now), true, proxy_now(), pa_.out) == Registered::kYes;
    if (!w.known && !o_.scarce) return false;
  }
  emit(pa_);
  const auto open = [&] {
    return std::any_of(pairs_.begin(), pairs_.end(),
                       [&](const Pair& w) { return fresh(w.now) && !answered(w); });
  };
  started_ = false;
  while (open() && now_ < Instant{} + kHandshakes) {
    step();
    now_ = later(now_, next_event());
  }
  started_ = true;
  const auto since_now = [&](Instant at) { return at.is_never() ? at : now_ + (at - Instant{}); };
  pa_.dies_at = since_now(o_.restart_a_at);
  pa_.away = o_.restart_a_for;
  pb_.dies_at = since_now(o_.restart_at);
  pb_.away = o_.restart_for;
  for (Pair& w : pairs_) w.reset_at = w.now.reset == Reset::kNone ? w.reset_at : since_now(w.now.reset_at);
  return !open();
}

void World::post(Pair& w) {
  model::WorkloadConfig wl;
  wl.path_mtu = w.now.pair.path_mtu;
  wl.max_length = w.now.max_length;
  wl.sends = w.now.sends;
  wl.writes = w.now.writes;
  wl.reads = w.now.reads;
  wl.atomics = w.now.atomics;
  while (works(w) && w.next_post <= now_) {
    if (w.left_a > 0)
      w.qps.a->requester.post(model::random_work(prng_, wl, w.now.pair.memory_b), now_), --w.left_a;
    if (w.left_b > 0)
      w.qps.b->requester.post(model::random_work(prng_, wl, w.now.pair.memory_a), now_), --w.left_b;
    w.next_post = now_ + w.now.post_every;
  }
}

void World::post_due() {
  if (!started_) return;
  for (Pair& w : pairs_) {
    if (w.register_at <= now_ && pa_.alive()) {
      w.register_at = Instant::never();
      pa_.shard.register_qp(registration(w.now), true, proxy_now(), pa_.out);
      emit(pa_);
      ++met_[Event::kMidFlow];
    }
    post(w);
  }
}

}  // namespace matchrdma::swarm
