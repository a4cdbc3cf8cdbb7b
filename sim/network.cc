#include "sim/network.h"

#include <limits>
#include <utility>

namespace matchrdma::sim {

uint32_t Network::add_host(const HostSettings& settings) {
  hosts_.emplace_back(context_, hosts(), settings);
  switch_of_.push_back(0);
  cable_of_.push_back({});
  return hosts() - 1;
}

uint32_t Network::add_switch(const SwitchSettings& settings) {
  switches_.emplace_back(context_, switches(), settings);
  edges_.emplace_back();
  return switches() - 1;
}

void Network::join_host(uint32_t host, uint32_t to_switch, const LinkSpec& spec, const EcnSettings& ecn) {
  Link& down = links_.emplace_back(context_, spec, hosts_[host], 0);
  const uint32_t port = switches_[to_switch].add_port(down, ecn);
  hosts_[host].attach(links_.emplace_back(context_, spec, switches_[to_switch], port));
  switch_of_[host] = to_switch;
  cable_of_[host] = spec;
  edges_[to_switch].push_back({true, host, spec});
}

uint32_t Network::join_switches(uint32_t a, uint32_t b, const LinkSpec& spec, const EcnSettings& ecn) {
  const uint32_t port_a = switches_[a].ports(), port_b = switches_[b].ports();
  switches_[a].add_port(links_.emplace_back(context_, spec, switches_[b], port_b), ecn);
  LinkSpec back = spec;
  ++back.seed;
  switches_[b].add_port(links_.emplace_back(context_, back, switches_[a], port_a), ecn);
  edges_[a].push_back({false, b, spec});
  edges_[b].push_back({false, a, spec});
  return port_a;
}

std::vector<uint32_t> Network::distances_to(uint32_t to_switch) const {
  std::vector<uint32_t> hops(switches(), std::numeric_limits<uint32_t>::max());
  std::vector<uint32_t> reached{to_switch};
  hops[to_switch] = 0;
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const Edge& e : edges_[reached[i]]) {
      if (e.to_host || hops[e.node] <= hops[reached[i]] + 1) continue;
      hops[e.node] = hops[reached[i]] + 1;
      reached.push_back(e.node);
    }
  }
  return hops;
}

void Network::route() {
  far_.clear();
  for (uint32_t s = 0; s < switches(); ++s) far_.push_back(distances_to(s));
  for (uint32_t s = 0; s < switches(); ++s) {
    std::vector<std::vector<uint32_t>> routes(hosts());
    for (uint32_t h = 0; h < hosts(); ++h) {
      for (uint32_t port = 0; port < edges_[s].size(); ++port) {
        const Edge& e = edges_[s][port];
        const bool leads = e.to_host ? e.node == h
                                     : far_[switch_of_[h]][s] != 0 &&
                                           far_[switch_of_[h]][e.node] + 1 == far_[switch_of_[h]][s];
        if (leads) routes[h].push_back(port);
      }
    }
    switches_[s].set_routes(std::move(routes));
  }
}

Flow Network::open(uint32_t source, uint32_t destination, const SenderSettings& sender,
                   const ReceiverSettings& receiver) {
  const Flow f{source, destination, hosts_[source].add_sender(sender),
               hosts_[destination].add_receiver(receiver)};
  hosts_[source].join_sender(f.source_qp, {destination, f.destination_qp, flows_});
  hosts_[destination].join_receiver(f.destination_qp, {source, f.source_qp, flows_});
  ++flows_;
  return f;
}

void Network::renew(const Flow& f) {
  hosts_[f.source].start_anew(f.source_qp);
  hosts_[f.source].relabel_sender(f.source_qp, flows_);
  hosts_[f.destination].relabel_receiver(f.destination_qp, flows_);
  ++flows_;
}

SimSpan Network::base_rtt(uint32_t source, uint32_t destination, uint32_t payload) const {
  const auto leg = [&](const LinkSpec& l) { return l.delay * 2 + context_.tick.serialise(payload, l.rate); };
  SimSpan rtt = leg(cable_of_[source]) + leg(cable_of_[destination]);
  const std::vector<uint32_t>& hops = far_[switch_of_[destination]];
  for (uint32_t s = switch_of_[source]; hops[s] != 0;) {
    for (const Edge& e : edges_[s]) {
      if (e.to_host || hops[e.node] + 1 != hops[s]) continue;
      rtt = rtt + leg(e.spec);
      s = e.node;
      break;
    }
  }
  return rtt;
}

uint64_t Network::lost_frames() const {
  uint64_t n = 0;
  for (const Link& l : links_) n += l.lost();
  return n;
}

int64_t Network::bdp_bytes(uint32_t source, uint32_t destination, uint32_t payload) const {
  return bytes_in(cable_of_[source].rate, base_rtt(source, destination, payload));
}

}  // namespace matchrdma::sim
