#include "tests/schedules/world.h"

#include <algorithm>
#include <memory>

#include "dataplane/wire/icrc.h"
#include "model/workload.h"

namespace matchrdma::schedules {
namespace {

constexpr Duration kLimit = Duration::seconds(40);

model::Span<Carried> make_long(const model::SpanConfig& c, uint64_t seed, model::PacketArena& arena) {
  model::Span<Carried> s(c, seed);
  s.set_clone([&arena](const Carried& x) {
    return Carried{x.packet ? model::clone_packet(x.packet, arena) : PacketRef{}, x.message, x.session};
  });
  // A control datagram is sealed: a flipped bit makes it a lost one. Marked by an empty probe answer of time
  // never.
  s.set_corrupt([&arena](Carried& x, Prng& r) {
    if (x.packet) {
      model::corrupt_packet(x.packet, r, arena, model::fragile_from(x.packet->bytes()));
    } else {
      x.message = ProbeAck{Instant::never(), {}, {}};
    }
  });
  return s;
}

bool lost_message(const Message& m) {
  const auto* p = std::get_if<ProbeAck>(&m);
  return p != nullptr && p->t1.is_never();
}

bool learned(const Proxy& p, Bytes frame) {
  const ParseResult r = parse_frame(frame);
  if (r.kind != ParseKind::kRoce || !r.frame.info().read_class) return false;
  const FlowKey key = FlowKey::of(r.frame, 0);
  for (const FlowView& v : p.shard.flows()) {
    if (v.key == key) return true;
  }
  return false;
}

ShardConfig shard_config(const Options& o, uint32_t instance) {
  ShardConfig c;
  c.limits = o.limits;
  c.timing = o.timing;
  c.tuning = o.tuning;
  c.instance = instance;
  return c;
}

}  // namespace

Proxy::Proxy(const Options& o, uint32_t instance, std::string name, PacketPool& pool)
    : shard(shard_config(o, instance), pool),
      out(64),
      watch(o, std::move(name)),
      budgets(o.estimator, o.limits.max_groups) {}

World::World(const Options& o, const std::string& capture)
    : o_(o),
      a_(o.host, arena_),
      b_(o.host, arena_),
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
      prng_(o.seed ^ 0x5eed) {
  if (capture.empty()) return;
  for (const char* name : {"/lan-a.pcap", "/wan.pcap", "/lan-b.pcap"}) {
    auto w = CaptureWriter::open(capture + name);
    if (w.ok()) captures_.push_back(std::move(w.value()));
  }
}

Registration World::registration(const PairOptions& p) const {
  Registration r;
  const bool fresh = p.join == Join::kFresh;
  r.a = {p.pair.path.src, p.pair.qpn_a, fresh, p.pair.start_a, 0};
  r.b = {p.pair.path.dst, p.pair.qpn_b, fresh, p.pair.start_b, 0};
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

void World::connect() {
  for (Proxy* p : {&pa_, &pb_}) {
    p->watch.set_waits([this](const FlowKey& flow, Psn psn) { return waits(flow, psn); });
  }
  for (const PairOptions& p : o_.pairs) {
    Pair w;
    w.qps = model::connect(a_, b_, p.pair);
    w.left_a = p.work_a;
    w.left_b = p.work_b;
    if (p.fatal != 0) {
      w.qps.b->responder.inject_nak(p.fatal, p.pair.start_a.v + prng_.between(0, p.work_a));
    }
    FlowKey ab{p.pair.path.src, p.pair.path.dst, p.pair.qpn_b, 0, 0, 0};
    ab.vlan_outer = registration(p).vlan_outer;
    ab.vlan_inner = registration(p).vlan_inner;
    FlowKey ba = ab;
    std::swap(ba.src, ba.dst);
    ba.dst_qpn = p.pair.qpn_a;
    pa_.watch.pair(ba, ab, p.pair.path_mtu);
    pb_.watch.pair(ab, ba, p.pair.path_mtu);
    flow_senders_.push_back({ab, w.qps.a});
    flow_senders_.push_back({ba, w.qps.b});
    if (p.join == Join::kMidFlow && !o_.transparent)
      w.register_at = Instant{prng_.between(500'000, 15'000'000)};
    pairs_.push_back(std::move(w));
  }
}

// Registrations of fresh connections are answered before their first packet, over the lossy span.
bool World::handshakes() {
  if (o_.transparent) return true;
  for (const PairOptions& p : o_.pairs) {
    if (p.join == Join::kFresh &&
        pa_.shard.register_qp(registration(p), true, proxy_now(), pa_.out) != Registered::kYes)
      return false;
  }
  emit(pa_, true);
  const auto open = [&] {
    for (const PairOptions& p : o_.pairs) {
      if (p.join != Join::kFresh) continue;
      if (!pa_.shard.registered(registration(p)) || !pb_.shard.registered(registration(p))) return true;
    }
    return false;
  };
  started_ = false;
  while (open() && now_ < Instant{} + Duration::seconds(20)) {
    step();
    now_ = later(now_, next_event());
  }
  started_ = true;
  dies_at_ = o_.restart_at.is_never() ? o_.restart_at : now_ + (o_.restart_at - Instant{});
  return !open();
}

void World::post_due() {
  if (!started_) return;
  for (size_t i = 0; i < pairs_.size(); ++i) {
    Pair& w = pairs_[i];
    const PairOptions& p = o_.pairs[i];
    if (w.register_at <= now_) {
      w.register_at = Instant::never();
      pa_.shard.register_qp(registration(p), true, proxy_now(), pa_.out);
      emit(pa_, true);
    }
    model::WorkloadConfig wl;
    wl.path_mtu = p.pair.path_mtu;
    wl.max_length = p.max_length;
    wl.sends = p.sends;
    wl.writes = p.writes;
    wl.reads = p.reads;
    wl.atomics = p.atomics;
    while (w.left_a + w.left_b > 0 && w.next_post <= now_) {
      if (w.left_a > 0)
        w.qps.a->requester.post(model::random_work(prng_, wl, p.pair.memory_b), now_), --w.left_a;
      if (w.left_b > 0)
        w.qps.b->requester.post(model::random_work(prng_, wl, p.pair.memory_a), now_), --w.left_b;
      w.next_post = now_ + p.post_every;
    }
  }
}

void World::record(int where, Bytes b) {
  ++packets_;
  if (captures_.size() == 3) static_cast<void>(captures_[static_cast<size_t>(where)].write(now_, b));
}

void World::hosts_send() {
  while (PacketRef p = a_.poll(now_)) {
    record(0, p->bytes());
    const uint32_t size = p->size;
    a_up_.push(std::move(p), size, now_);
  }
  while (PacketRef p = b_.poll(now_)) {
    record(2, p->bytes());
    const uint32_t size = p->size;
    b_up_.push(std::move(p), size, now_);
  }
}

void World::emit(Proxy& p, bool is_a) {
  for (OutItem& item : p.out.items()) {
    p.watch.leaves(item, now_);
    if (!item.packet) {
      if (lost_budget(*item.message)) continue;
      Long& l = in_data_queue(*item.message) ? (is_a ? ab_ : ba_) : (is_a ? ctl_ab_ : ctl_ba_);
      l.push(Carried{{}, std::move(*item.message), session_}, 64, now_);
      continue;
    }
    const uint32_t size = item.packet->size;
    if (item.side == Side::kLan) {
      record(is_a ? 0 : 2, item.packet->bytes());
      (is_a ? a_down_ : b_down_).push(std::move(item.packet), size, now_);
      continue;
    }
    record(1, item.packet->bytes());
    if (o_.canary && item.cause == Cause::kFirst && prng_.chance(0.02)) {
      // The fault that the swarm must find: other bytes with a right ICRC.
      PacketRef q = arena_.copy(item.packet->bytes());
      const ParseResult r = parse_frame(q->bytes());
      if (r.kind == ParseKind::kRoce && !r.frame.payload().empty()) {
        q->data[r.frame.payload_offset()] ^= 1;
        write_icrc(parse_frame(q->bytes()).frame, {q->data, q->size});
      }
      item.packet = std::move(q);
    }
    (is_a ? ab_ : ba_).push(Carried{std::move(item.packet), {}, session_}, size, now_);
  }
  p.out.clear();
}

void World::run_proxy(Proxy& p, bool is_a) {
  size_t next = 0;
  do {
    const size_t n = std::min<size_t>(p.rx.size() - next, 32);
    for (size_t i = next; i < next + n; ++i) {
      if (p.rx[i].side == Side::kLan)
        p.watch.enters_lan(p.rx[i].packet->bytes(), learned(p, p.rx[i].packet->bytes()));
    }
    const size_t m = std::min<size_t>(p.messages.size(), 32);
    p.shard.run_once({p.rx.data() + next, n}, {p.messages.data(), m}, proxy_now(), p.out);
    p.messages.erase(p.messages.begin(), p.messages.begin() + static_cast<std::ptrdiff_t>(m));
    next += n;
    make_budgets(p);
    emit(p, is_a);
  } while (next < p.rx.size() || !p.messages.empty());
  p.rx.clear();
}

void World::make_budgets(Proxy& p) {
  p.budgets.run(p.shard, proxy_now(), p.out, o_.looks);
  if (slot_watch_ && &p == &pb_ && !p.shard.closed_slots().empty()) {
    slot_watch_(now_ - began_, p.shard.closed_slots(), p.budgets.maker());
  }
}

bool World::lost_budget(const Message& m) {
  if (!std::holds_alternative<Budget>(m)) return false;
  const Instant at = Instant{} + (now_ - began_);
  return (o_.no_budgets.from <= at && at < o_.no_budgets.until) ||
         (o_.budget_loss > 0 && prng_.chance(o_.budget_loss));
}

void World::change_egress() {
  if (egress_changes_at_ > now_) return;
  egress_changes_at_ = now_ + o_.wave / 2;
  egress_low_ = !egress_low_;
  if (o_.wave_behind) {
    b_down_.config().rate = egress_low_ ? o_.low_egress : o_.tuning.egress;
    return;
  }
  Tuning t = o_.tuning;
  if (egress_low_) t.egress = o_.low_egress;
  pb_.shard.set_tuning(o_.timing, t, proxy_now(), pb_.out);
  emit(pb_, false);
}

// A dead proxy takes in nothing and lets nothing through. Its next life has a session of its own.
void World::restart_due() {
  if (dies_at_ <= now_) {
    dies_at_ = Instant::never();
    back_at_ = now_ + o_.restart_for;
  }
  if (back_at_.is_never()) return;
  pb_.rx.clear();
  pb_.messages.clear();
  if (back_at_ > now_) return;
  back_at_ = Instant::never();
  ++session_;
  std::destroy_at(&pb_.shard);
  std::construct_at(&pb_.shard, shard_config(o_, 2 + session_), arena_);
  pb_.budgets = SoleBudgets(o_.estimator, o_.limits.max_groups);
  for (Proxy* p : {&pa_, &pb_}) {
    p->shard.peer_session(true, proxy_now(), p->out);
    emit(*p, p == &pa_);
  }
}

void World::step() {
  post_due();
  while (auto p = a_down_.pop_due(now_)) a_.on_packet((*p)->bytes(), now_);
  while (auto p = b_down_.pop_due(now_)) b_.on_packet((*p)->bytes(), now_);
  hosts_send();
  while (auto p = a_up_.pop_due(now_)) pa_.rx.push_back({Side::kLan, std::move(*p)});
  while (auto p = b_up_.pop_due(now_)) pb_.rx.push_back({Side::kLan, std::move(*p)});
  const auto arrive = [&](Long& l, Proxy& to) {
    while (auto c = l.pop_due(now_)) {
      if (c->packet) {
        to.rx.push_back({Side::kWan, std::move(c->packet)});
      } else if (!lost_message(c->message) && c->session == session_) {
        // Order against packets matters for marks: what came before them is processed first.
        if (in_data_queue(c->message) && !to.rx.empty() && (&to == &pa_ || back_at_.is_never())) {
          run_proxy(to, &to == &pa_);
        }
        to.messages.push_back(std::move(c->message));
      }
    }
  };
  arrive(ab_, pb_);
  arrive(ba_, pa_);
  arrive(ctl_ab_, pb_);
  arrive(ctl_ba_, pa_);
  restart_due();
  change_egress();
  if (!pa_.rx.empty() || !pa_.messages.empty() || wakeup(pa_) <= now_) run_proxy(pa_, true);
  const bool b_lives = back_at_.is_never();
  if (b_lives && (!pb_.rx.empty() || !pb_.messages.empty() || wakeup(pb_) <= now_)) run_proxy(pb_, false);
}

Instant World::next_event() const {
  Instant at = earlier(a_.next_deadline(), b_.next_deadline());
  for (const Wire* w : {&a_up_, &a_down_, &b_up_, &b_down_}) at = earlier(at, w->next_due());
  for (const Long* l : {&ab_, &ba_, &ctl_ab_, &ctl_ba_}) at = earlier(at, l->next_due());
  at = earlier(at, wakeup(pa_));
  at = earlier(at, back_at_.is_never() ? wakeup(pb_) : back_at_);
  if (!started_) return at;
  at = earlier(earlier(at, dies_at_), egress_changes_at_);
  for (const Pair& w : pairs_) {
    if (w.left_a + w.left_b > 0) at = earlier(at, w.next_post);
    at = earlier(at, w.register_at);
  }
  return at;
}

bool World::finished() {
  for (const Pair& w : pairs_) {
    if (w.left_a + w.left_b > 0) return false;
  }
  // Probes go on for ever; everything else has to come to rest.
  return back_at_.is_never() && a_.idle() && b_.idle() && a_up_.empty() && a_down_.empty() && b_up_.empty() &&
         b_down_.empty() && !pa_.shard.busy() && !pb_.shard.busy();
}

// What every flow was doing, for the reader of a failure.
std::string World::states() const {
  std::string out;
  for (const Proxy* p : {&pa_, &pb_}) {
    for (const FlowView& v : p->shard.flows()) {
      out += std::string("\n    ") + (p == &pa_ ? "A " : "B ") + (v.source ? "source " : "destination ") +
             v.state + " base " + std::to_string(v.base) + " next +" + std::to_string(v.epsn - v.base) +
             " confirmed +" + std::to_string(v.confirmed_end - v.base) + " owned " +
             std::to_string(v.owned_packets);
    }
    out += std::string("\n    ") + (p->shard.busy() ? "busy" : "idle");
  }
  out += std::string("\n    hosts ") + (a_.idle() ? "idle " : "busy ") + (b_.idle() ? "idle" : "busy");
  return out;
}

std::string World::verdict(bool done) {
  for (const Proxy* p : {&pa_, &pb_}) {
    if (!p->watch.complaint().empty()) return p->watch.complaint();
  }
  bool healthy = true;
  for (size_t i = 0; i < pairs_.size(); ++i) {
    const PairOptions& p = o_.pairs[i];
    const model::QpPair& q = pairs_[i].qps;
    if (p.fatal != 0) {
      healthy = false;
      continue;
    }
    if (q.a->failed() || q.b->failed()) return "a healthy QP was killed (invariant 7)";
    model::AuditOptions audit;
    audit.complete = done;
    audit.completion_after_execution = p.completion == Completion::kEndToEnd;
    const std::string bad = model::audit(q, audit, now_);
    if (!bad.empty()) return "pair " + std::to_string(i) + ": " + bad;
    if (o_.clean && q.a->responder.stats().sequence_naks + q.b->responder.stats().sequence_naks != 0)
      return "pair " + std::to_string(i) + ": a receiver missed a packet though nothing went wrong";
  }
  if (!done)
    return "no end after " + std::to_string(kLimit.ns / 1'000'000'000) +
           " s of virtual time (something waits for ever)" + states();
  for (const Proxy* p : {&pa_, &pb_}) {
    const Counters& n = p->shard.counters();
    // Copies behind a barrier that nobody lifted any more expire by their own timer.
    const std::vector<FlowView> flows = p->shard.flows();
    const bool barrier = std::any_of(flows.begin(), flows.end(), [](const FlowView& v) {
      return std::string_view(v.state) == "barrier" || std::string_view(v.state) == "basing" ||
             std::string_view(v.state) == "tracking";
    });
    const bool owned = n.custody_bytes != 0 || n.held_bytes != 0;
    if ((owned && !barrier) || n.gate_bytes != 0) return "bytes are still owned at the end" + states();
    if (n.faults != 0 && healthy) return "fault on a healthy QP (invariant 7)";
  }
  return {};
}

std::string World::run() {
  connect();
  if (!handshakes()) return "registration did not finish" + states();
  began_ = now_;
  for (Pair& w : pairs_) w.next_post = now_;
  if (o_.wave > Duration{}) egress_changes_at_ = now_;
  const Instant end = now_ + kLimit;
  bool done = false;
  while (now_ <= end) {
    step();
    if (!pa_.watch.complaint().empty() || !pb_.watch.complaint().empty()) break;
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

}  // namespace matchrdma::schedules
