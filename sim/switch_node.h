#pragma once
// An output-queued switch with a shared buffer, PFC and ECN (SIMULATOR 3).
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "dataplane/base/prng.h"
#include "sim/border.h"
#include "sim/ecn_marker.h"
#include "sim/egress_queues.h"
#include "sim/flowlet_table.h"
#include "sim/link.h"
#include "sim/occupancy.h"
#include "sim/pause_state.h"
#include "sim/shared_buffer.h"
#include "sim/sim_context.h"

namespace matchrdma::sim {

struct SwitchSettings {
  BufferSettings buffer{};
  uint64_t seed = 1;  ///< of its ECN marks
};

struct SwitchStats {
  uint64_t drops = 0, pauses = 0, resumes = 0, marks = 0;
};

/// Duty: forwards by host number, accounts, pauses, marks. Does not know topologies: routes are given. At the
/// end of a long link a Border may take what comes.
class SwitchNode final : public Node, private EventHandler {
 public:
  /// in_port of what a border has emitted.
  static constexpr uint32_t kNoPort = ~uint32_t{0};

  SwitchNode(SimContext& context, uint32_t number, const SwitchSettings& settings)
      : context_(context), number_(number), buffer_(settings.buffer), prng_(settings.seed) {}
  SwitchNode(const SwitchNode&) = delete;
  SwitchNode& operator=(const SwitchNode&) = delete;

  /// A port whose two directions are alike. Returns its number.
  uint32_t add_port(Link& out, const EcnSettings& ecn);
  /// Ports of shortest paths to hosts, by host; several: ECMP.
  void set_routes(std::vector<std::vector<uint32_t>> routes) { routes_ = std::move(routes); }

  /// Chooses among ports by flowlet (LetFlow) instead of by flow.
  void set_flowlets(SimSpan gap, uint64_t seed) { flowlets_.emplace(gap, seed); }

  /// This is the end of the long link at `long_port`, and `border` knows what is special about it.
  void set_border(Border& border, uint32_t long_port) {
    border_ = &border;
    long_port_ = long_port;
  }
  /// From the border, along the routes or over the long link. It came by no port, so nobody is paused for it.
  void emit(SimPacket* p, SimTime now) { enqueue(p, route(*p, now), now); }
  void emit_long(SimPacket* p, SimTime now) { enqueue(p, long_port_, now); }
  /// What the border has taken goes its way after a detour, accounted to the port that it came by.
  void readmit(SimPacket* p, SimTime now) { forward(p, now); }
  /// The border holds so many bytes more, or less.
  void border_holds(int64_t bytes, SimTime now) { hold(bytes, now); }
  /// What this switch holds counts there too: of a whole site.
  void count_in(Occupancy& site) { site_ = &site; }

  void receive(SimPacket* p, uint32_t port, SimTime now) override;

  /// Bytes in all queues on the way out, and in the border.
  Occupancy& occupancy() { return occupancy_; }
  const std::vector<uint32_t>& routes_to(uint32_t host) const { return routes_[host]; }
  const SwitchStats& stats() const { return stats_; }
  const SharedBuffer& buffer() const { return buffer_; }
  const EgressQueues& queues(uint32_t port) const { return ports_[port].queues; }
  const PauseState& pauses(uint32_t port) const { return ports_[port].pauses; }
  uint32_t ports() const { return static_cast<uint32_t>(ports_.size()); }

 private:
  struct Port {
    Link* out;
    EcnMarker ecn;
    EgressQueues queues{};
    PauseState pauses{};
    bool wakes = false;  ///< an event waits for the link to be free
  };
  void on_event(SimTime now, uint64_t port) override;
  void forward(SimPacket* p, SimTime now);
  void enqueue(SimPacket* p, uint32_t out, SimTime now);
  void push(SimPacket* p, uint32_t out, SimTime now);
  void hold(int64_t bytes, SimTime now) {
    occupancy_.add(bytes, now);
    if (site_ != nullptr) site_->add(bytes, now);
  }
  uint32_t route(const SimPacket& p, SimTime now);
  void send_pfc(uint32_t port, uint32_t traffic_class, bool pause, SimTime now);
  void send(uint32_t port, SimTime now);
  void left(SimPacket& p, uint32_t port, SimTime now);

  SimContext& context_;
  uint32_t number_;
  SharedBuffer buffer_;
  Prng prng_;
  std::vector<Port> ports_;
  std::vector<std::vector<uint32_t>> routes_;
  std::optional<FlowletTable> flowlets_;
  Border* border_ = nullptr;
  uint32_t long_port_ = kNoPort;
  Occupancy occupancy_;
  Occupancy* site_ = nullptr;
  SwitchStats stats_;
};

}  // namespace matchrdma::sim
