#pragma once
// Hosts and switches joined by links, with shortest-path routes.
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/host.h"
#include "sim/link.h"
#include "sim/sim_context.h"
#include "sim/switch_node.h"

namespace matchrdma::sim {

/// A QP with its two ends.
struct Flow {
  uint32_t source = 0, destination = 0;        ///< hosts
  uint32_t source_qp = 0, destination_qp = 0;  ///< numbers at their hosts
};

/// Duty: owns a run's nodes and links. Build it (hosts, switches, cables, then route()), then open flows.
class Network {
 public:
  Network(const FrameSizes& frames, Tick tick) : context_{.frames = frames, .tick = tick} {}
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  uint32_t add_host(const HostSettings& settings);
  uint32_t add_switch(const SwitchSettings& settings);
  /// Both directions alike.
  void join_host(uint32_t host, uint32_t to_switch, const LinkSpec& spec, const EcnSettings& ecn);
  /// Returns the port's number at `a`. Both directions alike, but each loses by its own chance.
  uint32_t join_switches(uint32_t a, uint32_t b, const LinkSpec& spec, const EcnSettings& ecn);
  /// Gives every switch its shortest paths.
  void route();

  Flow open(uint32_t source, uint32_t destination, const SenderSettings& sender,
            const ReceiverSettings& receiver);
  /// As a new connection between the same two: ECMP hashes another label, and DCQCN has seen nothing yet. Only
  /// while nothing of it is on its way.
  void renew(const Flow& f);
  void post(const Flow& f, int64_t bytes) { hosts_[f.source].post(f.source_qp, bytes, now()); }

  /// Round trip of an empty network as the forks compute it: both ways' delays and one packet of `payload`
  /// bytes on each link of the way there (THEMIS prints 1012365 ns for 1012000 ns of delay).
  SimSpan base_rtt(uint32_t source, uint32_t destination, uint32_t payload) const;
  /// Line rate of the source times that, bytes.
  int64_t bdp_bytes(uint32_t source, uint32_t destination, uint32_t payload) const;

  Rate line_rate(uint32_t host) const { return cable_of_[host].rate; }
  EventCore& events() { return context_.events; }
  SimTime now() const { return context_.events.now(); }
  const SimPacketPool& packets() const { return context_.packets; }
  /// On links, not in switches.
  uint64_t lost_frames() const;
  Host& host(uint32_t h) { return hosts_[h]; }
  const Host& host(uint32_t h) const { return hosts_[h]; }
  SwitchNode& switch_node(uint32_t s) { return switches_[s]; }
  const SwitchNode& switch_node(uint32_t s) const { return switches_[s]; }
  SimContext& context() { return context_; }
  uint32_t hosts() const { return static_cast<uint32_t>(hosts_.size()); }
  uint32_t switches() const { return static_cast<uint32_t>(switches_.size()); }

 private:
  /// A switch's port: where it leads.
  struct Edge {
    bool to_host;
    uint32_t node;
    LinkSpec spec;
  };
  std::vector<uint32_t> distances_to(uint32_t to_switch) const;

  SimContext context_;
  std::deque<Host> hosts_;  ///< nodes do not move
  std::deque<SwitchNode> switches_;
  std::deque<Link> links_;
  std::vector<uint32_t> switch_of_;         ///< by host
  std::vector<LinkSpec> cable_of_;          ///< by host
  std::vector<std::vector<Edge>> edges_;    ///< by switch and port
  std::vector<std::vector<uint32_t>> far_;  ///< hops between switches
  uint32_t flows_ = 0;                      ///< labels given
};

}  // namespace matchrdma::sim
