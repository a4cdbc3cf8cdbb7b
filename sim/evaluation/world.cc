#include "sim/evaluation/world.h"

#include <algorithm>

#include "sim/schemes/pseudo_ack_border.h"
#include "sim/schemes/themis_border.h"

namespace matchrdma::sim {
namespace {

/// Above all that any run queues.
constexpr int64_t kNeverFull = int64_t{1} << 44;

}  // namespace

const char* scheme_name(LongHaul s) {
  switch (s) {
    case LongHaul::kDcqcn:
      return "dcqcn";
    case LongHaul::kPseudoAck:
      return "pseudo-ack";
    case LongHaul::kThemis:
      return "themis";
    case LongHaul::kMatchRdma:
      return "matchrdma";
  }
  return "";
}

World::World(const WorldSettings& settings) : s_(settings), network_(settings.frames, Tick{}) {
  const uint32_t hosts = s_.topology.hosts_per_site();
  for (uint32_t h = 0; h < 2 * hosts; ++h) network_.add_host({});
  add_site(true);
  add_site(false);
  join_sites();
  network_.route();
  set_ends();
}

World::~World() = default;

void World::add_site(bool a) {
  const TopologySettings& t = s_.topology;
  const auto add_switch = [&](Layer layer, int64_t buffer) {
    const uint64_t seed = s_.seed * 1000 + network_.switches();
    const uint32_t n = network_.add_switch({{.bytes = buffer}, seed});
    layers_[static_cast<size_t>(layer)].push_back(n);
    network_.switch_node(n).count_in(sites_[a ? 0 : 1]);
    return n;
  };
  const uint32_t otn = add_switch(Layer::kOtn, s_.otn_buffer_bytes == 0 ? kNeverFull : s_.otn_buffer_bytes);
  otn_[a ? 0 : 1] = otn;
  std::vector<uint32_t> spines;
  for (uint32_t i = 0; i < t.spines; ++i) {
    spines.push_back(add_switch(Layer::kSpine, s_.buffer_bytes));
    network_.join_switches(spines[i], otn, {t.spine_otn, t.cable}, ecn(t.spine_otn));
  }
  const uint32_t first_host = a ? 0 : t.hosts_per_site();
  for (uint32_t l = 0; l < t.leaves; ++l) {
    const uint32_t leaf = add_switch(Layer::kLeaf, s_.buffer_bytes);
    for (uint32_t i = 0; i < t.hosts_per_leaf; ++i)
      network_.join_host(first_host + l * t.hosts_per_leaf + i, leaf, {t.host, t.cable}, ecn(t.host));
    for (const uint32_t spine : spines)
      network_.join_switches(leaf, spine, {t.leaf_spine, t.cable}, ecn(t.leaf_spine));
  }
}

// THEMIS marks at other levels than HPCC above 100 Gb/s (SIMULATOR 3, "ECN").
EcnSettings World::ecn(Rate port) const {
  if (s_.scheme != LongHaul::kThemis || port.bps <= 100'000'000'000) return EcnSettings::hpcc(port);
  return port.bps <= 400'000'000'000 ? EcnSettings{800'000, 6'400'000, 0.2}
                                     : EcnSettings{1'600'000, 25'600'000, 0.2};
}

void World::join_sites() {
  SimContext& context = network_.context();
  const TopologySettings& t = s_.topology;
  const uint32_t port[2] = {otn(true).ports(), otn(false).ports()};
  // Each direction has a seed of its own, so those of two runs must not be neighbours.
  const LinkSpec long_spec{t.long_link, fibre(t.km), t.loss, 2 * s_.seed, t.down};
  network_.join_switches(otn_[0], otn_[1], long_spec, ecn(t.long_link));
  for (uint32_t end = 0; end < 2; ++end) {
    SwitchNode& node = network_.switch_node(otn_[end]);
    switch (s_.scheme) {
      case LongHaul::kDcqcn:
        break;
      case LongHaul::kPseudoAck:
        borders_.push_back(
            std::make_unique<PseudoAckBorder>(context, node, PseudoAckSettings::for_link(long_spec)));
        node.set_border(*borders_.back(), port[end]);
        break;
      case LongHaul::kThemis:
        borders_.push_back(std::make_unique<ThemisBorder>(context, node, s_.themis));
        node.set_border(*borders_.back(), port[end]);
        break;
      case LongHaul::kMatchRdma:
        proxies_[end] = std::make_unique<ProxyBorder>(context, node, arena_, endpoint_config(end + 1));
        node.set_border(*proxies_[end], port[end]);
        break;
    }
  }
}

void World::set_ends() {
  sender_.mtu = s_.mtu;
  sender_.reaction = ReactionSettings::hpcc();
  if (s_.scheme != LongHaul::kThemis) return;
  sender_.reaction = ReactionSettings::themis();
  // BDP of the worst pair of hosts, for everybody (SIMULATOR 2, "Window": GLOBAL_T = 1).
  sender_.window_bytes = network_.bdp_bytes(0, network_.hosts() - 1, s_.mtu);
  sender_.window_follows_rate = true;
  receiver_.notification = Notification::kPacedBit;
  receiver_.cnp_gap = SimSpan::micros(5);
}

EndpointConfig World::endpoint_config(uint32_t number) const {
  const TopologySettings& t = s_.topology;
  const ProxySettings& p = s_.proxy;
  EndpointConfig c;
  c.seed = s_.seed * 2 + number;
  c.shard.instance = number;
  // What the long link carries in a round trip, and as much again for gates and queues.
  const auto bdp = static_cast<uint64_t>(bytes_in(t.long_link, fibre(t.km) * 2 + SimSpan::micros(100)));
  Limits& l = c.shard.limits;
  l.custody_soft_bytes += 2 * bdp;
  l.custody_hard_bytes += 3 * bdp;
  l.reorder_memory += 2 * bdp;
  l.custody_packets += static_cast<uint32_t>(3 * bdp / s_.mtu);
  l.held_packets += static_cast<uint32_t>(2 * bdp / s_.mtu);
  Tuning& tuning = c.shard.tuning;
  tuning.budget = p.gate ? t.host : t.long_link;
  tuning.egress = t.host;
  tuning.check_icrc = p.check_icrc;
  c.shard.timing.initial_rtt = Duration{fibre(t.km).ps / 500 + 1'000'000};
  if (!p.cnp_proxy)
    c.shard.timing.cnp_min_interval = c.shard.timing.cnp_port_interval = Duration::seconds(3600);
  if (p.estimator && p.gate) {
    c.estimator = EstimatorSettings{
        .slot = p.slot, .line_rate = t.host, .scheme = *p.estimator, .port_rate = t.long_link};
    tuning.slot = p.slot;
    tuning.queue_target = static_cast<uint64_t>(matchrdma::Scale(*c.estimator).q_target);
  }
  return c;
}

Flow World::open(uint32_t source, uint32_t destination) {
  const Flow f = network_.open(source, destination, sender_, receiver_);
  if (!proxies_[0] || !between_sites(f)) return f;
  Registration r;
  r.a = {RoceCodec::address(source), RoceCodec::sender(f.source_qp), true, Psn{0}, 0};
  r.b = {RoceCodec::address(destination), RoceCodec::receiver(f.destination_qp), true, Psn{0}, 0};
  r.path_mtu = s_.mtu;
  r.completion = s_.proxy.completion;
  registrations_.push_back({r, at_site_a(source)});
  return f;
}

bool World::settle() {
  if (!proxies_[0]) return true;
  EventCore& events = network_.events();
  const SimTime end = events.now() + SimSpan::micros(1'000'000) + fibre(s_.topology.km) * 40;
  const auto wait = [&](auto done) {
    while (!done()) {
      if (events.next_due() > end || !events.run_one()) return false;
    }
    return true;
  };
  if (!wait([&] { return proxies_[0]->proxy().up() && proxies_[1]->proxy().up(); })) return false;
  for (const Asked& a : registrations_)
    if (proxies_[0]->register_qp(a.what, a.source_at_a, events.now()) != Registered::kYes) return false;
  size_t next = 0;
  return wait([&] {
    while (next < registrations_.size() && proxies_[0]->proxy().shard().registered(registrations_[next].what) &&
           proxies_[1]->proxy().shard().registered(registrations_[next].what))
      ++next;
    return next == registrations_.size();
  });
}

}  // namespace matchrdma::sim
