#include "pcap/replay_world.h"

#include <algorithm>
#include <utility>

namespace matchrdma {
namespace {

ShardConfig shard_config(const ReplayOptions& o, uint32_t instance) {
  ShardConfig c;
  c.instance = instance;
  c.tuning.budget = o.budget;
  if (o.estimator) {
    c.tuning.slot = o.estimator->slot;
    c.tuning.queue_target = static_cast<uint64_t>(Scale(*o.estimator).q_target);
  }
  if (!o.transparent && !o.register_flows) c.tuning.learned = o.completion;
  return c;
}

/// Copies that a proxy sends again show no progress: it may do so for ever.
bool is_progress(Cause c) {
  return c != Cause::kProbe && c != Cause::kReceiverNak && c != Cause::kReceiverRnr &&
         c != Cause::kCustodyResend && c != Cause::kDuplicateForwarded;
}

}  // namespace

ReplayWorld::ReplayWorld(const ReplayOptions& options, const TraceFlows& flows, CaptureReader reader)
    : options_(options),
      flows_(flows),
      lives_(flows),
      causality_(flows),
      hosts_(flows, causality_),
      feed_(std::move(reader), flows, causality_, hosts_, pool_),
      checks_(flows),
      latency_(flows, checks_.fence(), options.one_way() * 2),
      wan_(options, pool_),
      budgets_(options.keep_slots),
      nodes_{make_node(0), make_node(1)} {}

std::unique_ptr<ReplayWorld::Node> ReplayWorld::make_node(Site site) {
  const auto number = static_cast<uint32_t>(site + 1);
  return std::make_unique<Node>(
      *this, site,
      EndpointConfig{shard_config(options_, number), options_.estimator, options_.seed * 2 + number}, pool_);
}

Result<void> ReplayWorld::open_outputs() {
  const auto open = [](const std::string& path, std::unique_ptr<CaptureWriter>& out) -> Result<void> {
    if (path.empty()) return {};
    auto w = CaptureWriter::open(path);
    if (!w) return Error{w.error()};
    out = std::make_unique<CaptureWriter>(std::move(*w));
    return {};
  };
  if (auto r = open(options_.write_lan_a, lan_writers_[0]); !r) return r;
  if (auto r = open(options_.write_lan_b, lan_writers_[1]); !r) return r;
  return open(options_.write_wan, wan_writer_);
}

Result<void> ReplayWorld::run() {
  if (auto r = join(); !r) return r;
  if (options_.register_flows && !options_.transparent)
    if (auto r = register_flows(); !r) return r;
  // The first packet enters when all handshakes are over and every timer that they armed has had its turn.
  first_entry_ = last_progress_ = now_ + Duration::millis(1);
  hosts_.set_origin(first_entry_ - flows_.counts().first);
  wan_.start_faults(first_entry_);
  for (;;) {
    Instant t = next_event();
    if (const Instant h = feed_.horizon(); !h.is_never() && h <= t) {
      feed_.fill(h, now_);
      continue;
    }
    unblock_if_stuck(t);
    if (feed_.done() && hosts_.empty() && finished()) break;
    if (t.is_never()) break;
    step(t);
    if (options_.progress) options_.progress("replaying", fed_, flows_.counts().packets);
  }
  for (auto* w : {&lan_writers_[0], &lan_writers_[1], &wan_writer_})
    if (*w != nullptr)
      if (auto r = (*w)->close(); !r) return r;
  if (!write_error_.empty()) return Error{write_error_};
  return {};
}

// Handshakes of the proxies, before any traffic. Three round trips are enough on a span without faults.
template <typename Done>
Result<void> ReplayWorld::wait_for(Done done, const std::string& complaint) {
  const Instant deadline = now_ + Duration::seconds(1) + options_.one_way() * 40;
  while (!done()) {
    const Instant t = next_event();
    if (t > deadline)
      return Error{
          complaint +
          " within a second of virtual time and 40 trips; a span of this --rate and --distance is too slow for "
          "their handshakes"};
    step(t);
  }
  return {};
}

Result<void> ReplayWorld::join() {
  return wait_for([this] { return nodes_[0]->proxy.up() && nodes_[1]->proxy.up(); },
                  "the proxies did not agree on a session");
}

Result<void> ReplayWorld::register_flows() {
  const std::vector<Registration> all = flows_.registrations(options_.completion);
  std::vector<Registration> taken;
  ProxyEndpoint& a = nodes_[0]->proxy;
  for (const Registration& reg : all) {
    const bool local_a = flows_.sites().site_of(reg.a.ip, reg.b.ip) == 0;
    const uint64_t full = a.shard().counters().reasons[Reason::kFlowLimit];
    if (a.register_qp(reg, local_a, now_) == Registered::kYes) {
      taken.push_back(reg);
      continue;
    }
    refused_.push_back("QP " + std::to_string(reg.a.qpn.v) + " with QP " + std::to_string(reg.b.qpn.v) +
                       " was not registered: " +
                       (a.shard().counters().reasons[Reason::kFlowLimit] != full
                            ? "the flow table of proxy A is full"
                            : "one of them has another partner already, or both are the same"));
  }
  return wait_registered(taken);
}

Result<void> ReplayWorld::wait_registered(const std::vector<Registration>& all) {
  auto reg = all.begin();
  const auto done = [&] {
    while (reg != all.end() && nodes_[0]->proxy.shard().registered(*reg) &&
           nodes_[1]->proxy.shard().registered(*reg))
      ++reg;
    return reg == all.end();
  };
  auto r = wait_for(done, "not all QP pairs were registered");
  if (!r)
    return Error{"QP " + std::to_string(reg->a.qpn.v) + " and QP " + std::to_string(reg->b.qpn.v) + ": " +
                 r.error()};
  return {};
}

Instant ReplayWorld::next_event() const {
  Instant t = Instant::never();
  for (const Site s : {0, 1}) {
    t = earlier(t, hosts_.next(s));
    t = earlier(t, wan_.data_to(s).next_due());
    t = earlier(t, wan_.control_to(s).next_due());
    t = earlier(t, nodes_[static_cast<size_t>(s)]->proxy.next_wakeup());
  }
  return later(t, now_);
}

void ReplayWorld::step(Instant t) {
  now_ = later(now_, t);
  for (const Site s : {0, 1}) {
    gather(s, now_);
    Node& n = *nodes_[static_cast<size_t>(s)];
    n.now = later(n.now, now_);
    n.proxy.poll(n.now);
    if (n.proxy.due(now_)) run_node(s);
  }
}

void ReplayWorld::gather(Site site, Instant t) {
  Node& n = *nodes_[static_cast<size_t>(site)];
  n.now = later(n.now, t);
  const Instant limit = t + kBatch;
  WanQueue& data = wan_.data_to(site);
  WanQueue& control = wan_.control_to(site);
  while (n.proxy.waiting() < ProxyEndpoint::kBurst) {
    const Instant lan = hosts_.next(site), wan = data.next_due(), ctl = control.next_due();
    const Instant due = earlier(lan, earlier(wan, ctl));
    if (due > limit) return;
    // A packet that is not due yet must not be seen before the timers that are.
    if (due > n.now && n.proxy.shard().next_wakeup() < due) return;
    n.now = later(n.now, due);
    if (due == lan) {
      take_host_packet(site, t);
      if (const Instant h = feed_.horizon(); h <= limit) feed_.fill(limit, now_);
    } else if (!take_wan_item(site, due == ctl ? control : data)) {
      return;
    }
  }
}

void ReplayWorld::take_host_packet(Site site, Instant t) {
  Node& n = *nodes_[static_cast<size_t>(site)];
  FedPacket p = hosts_.pop(site, t);
  ++fed_;
  last_progress_ = now_;
  for (const int over : lives_.entered(p.view.stream)) remember_life(over);
  checks_.entered(p.view);
  latency_.entered(p.view, p.captured, p.entry);
  n.proxy.add(Side::kLan, std::move(p.packet));
}

// A packet comes out of the span long after it went in: by then it is in no cache.
void ReplayWorld::prefetch(const WanQueue& queue) {
  constexpr size_t kAhead = 6;
  if (const WanItem* far = queue.upcoming(2 * kAhead); far != nullptr) __builtin_prefetch(far->packet.get());
  const WanItem* near = queue.upcoming(kAhead);
  if (near == nullptr || !near->packet) return;
  for (uint32_t at = 0; at < near->packet->size; at += 64) __builtin_prefetch(near->packet->data + at);
}

// False: the burst ends here. A message of the data queue speaks of the packets before it, so none may come
// after it.
bool ReplayWorld::take_wan_item(Site site, WanQueue& queue) {
  prefetch(queue);
  Node& n = *nodes_[static_cast<size_t>(site)];
  const bool data = &queue == &wan_.data_to(site);
  auto item = queue.pop_due(Instant::never());
  if (item->packet) {
    n.proxy.add(Side::kWan, std::move(item->packet));
    return true;
  }
  n.proxy.add_datagram(item->datagram, n.now);
  return !data;
}

void ReplayWorld::run_node(Site site) {
  Node& n = *nodes_[static_cast<size_t>(site)];
  if (n.proxy.run(n.now)) budgets_.closed(site, n.proxy.budgets().why());
}

void ReplayWorld::Node::packet(OutItem& item) {
  if (item.side == Side::kLan) {
    world.to_lan(site, item);
  } else {
    world.to_wan(site, std::move(item.packet));
  }
}

void ReplayWorld::Node::datagram(Queue queue, Bytes udp_payload) {
  world.wan_.send_datagram(site, queue, udp_payload, now);
}

void ReplayWorld::to_lan(Site site, OutItem& item) {
  const Instant at = nodes_[static_cast<size_t>(site)]->now;
  const PacketView v = lives_.view(*item.packet);
  if (is_progress(item.cause)) last_progress_ = now_;
  latency_.left(v, item.cause, at);
  checks_.left(v, item.cause);
  causality_.delivered(v, at);
  hosts_.wake(v.rc ? v.stream : -1, now_);
  write(lan_writers_[static_cast<size_t>(site)], item.packet, at);
  item.packet.reset();
}

void ReplayWorld::to_wan(Site site, PacketRef p) {
  const Instant at = nodes_[static_cast<size_t>(site)]->now;
  write(wan_writer_, p, at);
  if (!wan_.faulty()) {
    wan_.send_packet(site, std::move(p), at);
    return;
  }
  const PacketRef kept = p.share();
  if (!wan_.send_packet(site, std::move(p), at)) checks_.lost_on_span(lives_.view(*kept));
}

void ReplayWorld::write(std::unique_ptr<CaptureWriter>& writer, const PacketRef& p, Instant now) {
  if (writer == nullptr || !write_error_.empty()) return;
  const Instant captured{std::max<int64_t>(0, (now - hosts_.origin()).ns)};
  if (auto r = writer->write(captured, p->bytes()); !r) write_error_ = r.error();
}

bool ReplayWorld::quiet() const {
  return wan_.data_empty() && !nodes_[0]->proxy.shard().busy() && !nodes_[1]->proxy.shard().busy();
}

// What is left may be resends to a host that will never answer: its recording has ended.
bool ReplayWorld::finished() const {
  if (quiet()) return true;
  const Duration round_trip = options_.one_way() * 2;
  const Duration patience =
      checks_.missing() == 0 ? round_trip * 4 + Duration::millis(20) : round_trip * 40 + Duration::seconds(2);
  // A span that lets nothing through never falls silent.
  return now_ - last_progress_ > (wan_.data_empty() ? patience : patience * 10);
}

// A recording that cannot go on (its cause was lost for good, or lies before the capture) must not stop the
// others.
void ReplayWorld::unblock_if_stuck(Instant& t) {
  if (hosts_.empty() || hosts_.any_ready()) return;
  // Well below a second: a retransmission that comes later looks like another life of the QP (C4).
  const Duration patience = options_.one_way() * 16 + Duration::millis(200);
  if (!quiet() && now_ - last_progress_ <= patience) return;
  if (!feed_.done() && feed_.horizon().is_never()) {
    feed_.read_one(now_);  // the window is full of what waits for packets behind it
  } else {
    hosts_.release_one(now_);
  }
  t = next_event();
}

}  // namespace matchrdma
