#include "sim/swarm/world.h"

#include <algorithm>

namespace matchrdma::swarm {
namespace {

constexpr Duration kLimit = Duration::seconds(40);

}  // namespace

World::World(const Options& o, Capture capture)
    : o_(o),
      a_up_(model::make_packet_span(o.lan, o.seed * 16 + 1, arena_)),
      a_down_(model::make_packet_span(o.lan, o.seed * 16 + 2, arena_)),
      b_up_(model::make_packet_span(o.lan, o.seed * 16 + 3, arena_)),
      b_down_(model::make_packet_span(o.lan, o.seed * 16 + 4, arena_)),
      ab_(make_long(o.wan, o.seed * 16 + 5, arena_)),
      ba_(make_long(o.wan, o.seed * 16 + 6, arena_)),
      ctl_ab_(make_long(o.control, o.seed * 16 + 7, arena_)),
      ctl_ba_(make_long(o.control, o.seed * 16 + 8, arena_)),
      pa_(o_, 1, "proxy A", arena_),
      pb_(o_, 2, "proxy B", arena_),
      prng_(o.seed ^ 0x5eed),
      lives_(o.seed ^ 0x11fe5),
      stranger_(o.seed ^ 0x57a46e, arena_),
      capture_(std::move(capture)) {
  for (Hosts* side : {&a_, &b_}) {
    for (uint32_t i = 0; i < o.hosts; ++i) side->push_back(std::make_unique<model::Host>(o.host, arena_));
  }
}

void World::record(Tap tap, Bytes b) {
  ++packets_;
  if (attacks_left_ > 0) stranger_.overhear(b);
  if (capture_) capture_(tap, now_, b);
}

void World::hosts_send() {
  const auto send = [this](Hosts& side, Tap tap, Wire& up) {
    for (const auto& host : side) {
      while (PacketRef p = host->poll(now_)) {
        record(tap, p->bytes());
        const uint32_t size = p->size;
        up.push(std::move(p), size, now_);
      }
    }
  };
  send(a_, Tap::kLanA, a_up_);
  send(b_, Tap::kLanB, b_up_);
}

// Every host of a side hears it and takes what is its own: QPNs are never given twice.
void World::deliver_to_hosts() {
  const auto deliver = [this](Wire& down, Hosts& side) {
    while (auto p = down.pop_due(now_)) {
      for (const auto& host : side) host->on_packet((*p)->bytes(), now_);
    }
  };
  deliver(a_down_, a_);
  deliver(b_down_, b_);
}

void World::step() {
  resets_due();
  post_due();
  deliver_to_hosts();
  hosts_send();
  while (auto p = a_up_.pop_due(now_)) pa_.rx.push_back({Side::kLan, std::move(*p)});
  while (auto p = b_up_.pop_due(now_)) pb_.rx.push_back({Side::kLan, std::move(*p)});
  const auto arrive = [&](Long& l, Proxy& to) {
    while (auto c = l.pop_due(now_)) {
      if (c->packet) {
        to.rx.push_back({Side::kWan, std::move(c->packet)});
      } else if (!is_lost(c->message) && c->session == session_) {
        // Order against packets matters for marks: what came before them is processed first.
        if (in_data_queue(c->message) && !to.rx.empty() && to.alive()) run_proxy(to);
        to.messages.push_back(std::move(c->message));
      }
    }
  };
  arrive(ab_, pb_);
  arrive(ba_, pa_);
  arrive(ctl_ab_, pb_);
  arrive(ctl_ba_, pa_);
  attack_due();
  restart_due();
  change_egress();
  for (Proxy* p : {&pa_, &pb_}) {
    if (p->alive() && (!idle(*p) || wakeup(*p) <= now_)) run_proxy(*p);
  }
}

Instant World::next_event() const {
  Instant at = Instant::never();
  for (const Hosts* side : {&a_, &b_}) {
    for (const auto& host : *side) at = earlier(at, host->next_deadline());
  }
  for (const Wire* w : {&a_up_, &a_down_, &b_up_, &b_down_}) at = earlier(at, w->next_due());
  for (const Long* l : {&ab_, &ba_, &ctl_ab_, &ctl_ba_}) at = earlier(at, l->next_due());
  for (const Proxy* p : {&pa_, &pb_}) at = earlier(at, p->alive() ? wakeup(*p) : p->back_at);
  if (!started_) return at;
  at = earlier(earlier(at, next_attack_), egress_changes_at_);
  for (const Proxy* p : {&pa_, &pb_}) at = earlier(at, p->dies_at);
  for (const Pair& w : pairs_) {
    if (works(w)) at = earlier(at, w.next_post);
    if (pa_.alive()) at = earlier(at, w.register_at);
    at = earlier(at, earlier(w.reset_at, w.quiet_until));
    at = earlier(at, w.patience);
  }
  return at;
}

std::string World::run() {
  connect_all();
  if (!handshakes()) return "registration did not finish" + states();
  began_ = now_;
  for (Pair& w : pairs_) w.next_post = now_;
  if (o_.wave > Duration{}) egress_changes_at_ = now_;
  if (o_.hostile.every > Duration{}) attacks_left_ = o_.hostile.packets;
  if (attacks_left_ > 0) next_attack_ = now_;
  const Instant end = now_ + kLimit;
  bool done = false;
  while (now_ <= end) {
    step();
    if (!complaint_.empty() || !pa_.watch.complaint().empty() || !pb_.watch.complaint().empty()) break;
    if ((done = finished())) break;
    const Instant next = next_event();
    if (next > now_) {
      same_time_ = 0;
    } else if (++same_time_ > 100'000) {
      return "virtual time stands still at " + std::to_string(now_.ns) + " ns" + states();
    }
    now_ = later(now_, next);
  }
  return verdict(done);
}

}  // namespace matchrdma::swarm
