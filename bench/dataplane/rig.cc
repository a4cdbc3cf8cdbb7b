#include "bench/dataplane/rig.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace matchrdma::dataplane_bench {
namespace {

constexpr uint32_t kHeaders = 128, kLeastMtu = 1500;
constexpr Duration kHop = Duration::millis(3);  ///< one way, while flows are registered
constexpr Rate kNoBound{10'000'000'000'000};

ShardConfig shard_config(const RigOptions& o, uint32_t instance) {
  ShardConfig c;
  c.instance = instance;
  Limits& l = c.limits;
  l.max_flows = 2 * o.traffic.flows + 64;
  l.max_owning_flows = l.max_flows;
  l.custody_packets = l.held_packets = 8 * o.custody + 65536;
  l.custody_soft_bytes = l.custody_hard_bytes = l.reorder_memory = uint64_t{1} << 36;
  c.timing.peer_timeout = Duration::seconds(3600);
  c.timing.custody_ack_interval = Duration::micros(o.report_us);
  c.timing.initial_rtt = kHop * 2;
  // Messages of very many flows take long to come whole; until then their receivers have nothing to say.
  c.timing.receiver_timeout = Duration::seconds(10);
  c.tuning.budget = c.tuning.egress = kNoBound;
  c.tuning.budget_burst_bytes = c.tuning.egress_burst_bytes = uint64_t{1} << 30;
  c.tuning.check_icrc = o.check_icrc;
  return c;
}

Error lost(const std::string& what) { return Error{what + ": the figures would mean nothing"}; }

}  // namespace

PacketRef copy_of(Bytes frame, PacketPool& pool) {
  PacketRef p = pool.alloc(static_cast<uint32_t>(frame.size()));
  if (p) std::copy(frame.begin(), frame.end(), p->data);
  return p;
}

Result<std::unique_ptr<Rig>> Rig::create(const RigOptions& o, const io::Clock& clock) {
  std::unique_ptr<Rig> rig(new Rig(o));
  if (auto r = rig->make_sites(clock); !r) return Error{r.error()};
  if (auto r = rig->make_primitives(); !r) return Error{r.error()};
  if (auto r = rig->connect(); !r) return Error{r.error()};
  if (auto r = rig->register_all(); !r) return Error{r.error()};
  return rig;
}

Result<void> Rig::make_sites(const io::Clock& clock) {
  SiteOptions s;
  s.mtu = std::max(o_.traffic.payload + kHeaders, kLeastMtu);
  s.name = "a";
  s.pool_packets = 6 * o_.custody + 65536;
  s.shard = shard_config(o_, 1);
  auto a = Site::create(s, clock);
  if (!a) return Error{a.error()};
  a_ = std::move(*a);
  s.name = "b";
  std::swap(s.own, s.peer);
  s.shard = shard_config(o_, 2);
  auto b = Site::create(s, clock);
  if (!b) return Error{b.error()};
  b_ = std::move(*b);
  return {};
}

Result<void> Rig::make_primitives() {
  other_ = Traffic(o_.traffic);
  auto port = io::RingPort::create("bare", 1 << 15);
  if (!port) return Error{port.error()};
  bare_ = std::move(*port);
  auto p = io::Primitives::create(*bare_, a_->pool(), other_.names(), o_.custody, o_.traffic.message_packets);
  if (!p) return Error{p.error()};
  primitives_ = std::move(*p);
  return {};
}

// Moves what both have sent to the other one.
void Rig::exchange() {
  to_span();
  from_span();
  come_back();
  for (; !returning_.empty(); returning_.pop_front()) a_->wan().put(std::move(returning_.front()));
}
void Rig::to_span() {
  a_->wan().take([&](Bytes f) {
    going_.bytes.insert(going_.bytes.end(), f.begin(), f.end());
    going_.ends.push_back(going_.bytes.size());
  });
}
void Rig::arrive(const Flight& f) {
  size_t at = 0;
  for (const size_t end : f.ends) {
    b_->wan().put(copy_of(Bytes(f.bytes).subspan(at, end - at), b_->pool()));
    at = end;
  }
}
void Rig::from_span() {
  arrive(going_);
  going_ = {};
}
void Rig::come_back() {
  b_->wan().take([&](Bytes f) {
    ++datagrams_;
    returning_.push_back(copy_of(f, a_->pool()));
  });
}
void Rig::bring_back(size_t at_once) {
  for (size_t i = 0; i < at_once && !returning_.empty(); ++i) {
    a_->wan().put(std::move(returning_.front()));
    returning_.pop_front();
  }
}
// The source's turn; what it sends stays on the span.
uint64_t Rig::send() {
  // What the peer said in its last turn arrives all through this one.
  const size_t at_once = (returning_.size() * kBurst + o_.phase - 1) / o_.phase;
  const uint64_t cycles = a_->work([&] { bring_back(at_once); });
  a_->lan().take([&](Bytes f) { traffic_.acknowledged(f); });
  to_span();
  span_.push_back(std::exchange(going_, {}));
  return cycles;
}

// One way across the span, both ways at once.
void Rig::hop() {
  exchange();
  for (Site* s : {a_.get(), b_.get()}) {
    s->clock().add(kHop);
    s->work();
  }
}

Result<void> Rig::connect() {
  for (int i = 0; i < 200 && !(a_->link().up() && b_->link().up()); ++i) {
    for (Site* s : {a_.get(), b_.get()}) s->link().poll(s->clock().now());
    hop();
  }
  if (!a_->link().up() || !b_->link().up()) return Error{"the two proxies do not agree on keys"};
  for (int i = 0; i < 4; ++i) hop();
  return {};
}

Result<void> Rig::register_all() {
  constexpr uint32_t kAtATime = 256;
  const auto began = std::chrono::steady_clock::now();
  for (uint32_t i = 0; i < o_.traffic.flows; ++i) {
    const Registration r = traffic_.registration(i, o_.completion);
    if (a_->end().register_qp(r, a_->clock().now()) != Registered::kYes) return Error{"a flow was not taken"};
    if (i % kAtATime != kAtATime - 1) continue;
    a_->work();
    hop();
  }
  a_->work();
  const Registration last = traffic_.registration(o_.traffic.flows - 1, o_.completion);
  for (int i = 0; i < 64; ++i) hop();
  registered_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (!a_->end().shard().registered(last)) return Error{"the peer did not answer all registrations"};
  a_->lan().take([](Bytes) {});
  b_->lan().take([](Bytes) {});
  return {};
}

Result<void> Rig::fill(io::RingPort& port) {
  Traffic& t = &port == bare_.get() ? other_ : traffic_;
  for (uint32_t i = 0; i < o_.phase; ++i) {
    PacketRef p = t.next_request(a_->pool());
    if (!p || !port.put(std::move(p)))
      return Error{"the pool or the ring of the senders is empty: more custody than planned"};
  }
  return {};
}

// The receivers look at what they were given, and answer.
void Rig::answer() {
  b_->lan().take([&](Bytes f) {
    if (PacketRef ack = traffic_.receive(f, b_->pool())) b_->lan().put(std::move(ack));
  });
}

uint64_t Rig::deliver() {
  arrive(span_.front());
  span_.pop_front();
  return b_->work([&] { answer(); });
}

Result<void> Rig::turn(Turns& t, bool counted) {
  if (auto r = fill(a_->lan()); !r) return r;
  const double source = static_cast<double>(send()) / o_.phase;
  if (counted) t.source.push_back(source);
  if (span_.size() * o_.phase <= o_.custody) return {};
  const double destination = static_cast<double>(deliver()) / o_.phase;
  if (counted) t.destination.push_back(destination);
  come_back();
  t.custody = a_->counters().custody_packets;
  return {};
}

Result<void> Rig::primitive_turns(Turns& t, bool counted) {
  using Steps = io::Primitives::Steps;
  const std::array<std::pair<std::vector<double>*, Steps>, 6> all{{
      {&t.primitives, {true, o_.check_icrc, true, true}},
      {&t.port, {false, false, false, false}},
      {&t.lookup, {true, false, false, false}},
      {&t.icrc, {false, true, false, false}},
      {&t.retain, {false, false, true, false}},
      {&t.acks, {false, false, false, true}},
  }};
  for (const auto& [out, steps] : all) {
    if (auto r = fill(*bare_); !r) return r;
    const double cycles = static_cast<double>(primitives_->run(steps)) / o_.phase;
    bare_->take([](Bytes) {});
    if (counted) out->push_back(cycles);
    if (!counted) break;  // to warm up the sum is enough
  }
  return {};
}

Result<Turns> Rig::run(int turns) {
  Turns t;
  const int warm = static_cast<int>(4 * o_.custody / o_.phase) + 8;
  for (int i = 0; i < warm + turns; ++i) {
    if (i == warm) datagrams_ = 0;
    if (auto r = turn(t, i >= warm); !r) return Error{r.error()};
    if (i < warm || i % 2 == 0) {
      if (auto r = primitive_turns(t, i >= warm); !r) return Error{r.error()};
    }
  }
  t.packets = static_cast<uint64_t>(turns) * o_.phase;
  t.span_datagrams = datagrams_;
  t.registered_seconds = registered_seconds_;
  if (traffic_.repeated() != 0) {
    return Error{"a receiver got " + std::to_string(traffic_.repeated()) +
                 " packets twice though nothing was lost: " + std::to_string(a_->counters().custody_resends) +
                 " sent again over the span, " + std::to_string(b_->counters().probes) + " probes, " +
                 std::to_string(b_->counters().redelivered) + " delivered again"};
  }
  return t;
}

Result<void> Rig::finish() {
  // What is still on its way, and what makes the messages whole.
  while (traffic_.unfinished()) {
    for (uint32_t i = 0; i < o_.phase && traffic_.unfinished(); ++i) {
      if (!a_->lan().put(traffic_.next_request(a_->pool()))) return Error{"the ring of the senders is full"};
    }
    send();
    deliver();
    come_back();
  }
  while (!span_.empty()) deliver();
  for (int i = 0; i < 8; ++i) {
    hop();
    answer();
    a_->lan().take([&](Bytes f) { traffic_.acknowledged(f); });
  }
  return judge();
}

Result<void> Rig::judge() const {
  if (traffic_.wrong() + primitives_->wrong() != 0)
    return lost(std::to_string(traffic_.wrong()) + " packets were not what a host expects");
  if (traffic_.received() != traffic_.sent())
    return lost(std::to_string(traffic_.sent() - traffic_.received()) + " packets did not arrive");
  if (a_->drops() + b_->drops() != 0) return lost("a port dropped packets");
  if (o_.completion == Completion::kTransparent) return {};
  if (traffic_.acks() == 0 || a_->counters().custody_packets != 0)
    return lost(std::to_string(a_->counters().custody_packets) + " packets are still owned, " +
                std::to_string(traffic_.acks()) + " ACKs were given");
  if (a_->counters().custody_resends != 0) return lost("packets were sent again, and nothing was lost");
  return {};
}

}  // namespace matchrdma::dataplane_bench
