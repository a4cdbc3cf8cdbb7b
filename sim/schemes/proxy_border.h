#pragma once
// MatchRDMA in the simulator: the daemon's own Shard, channel and estimator at the end of a long link.
#include <cstdint>

#include "controlplane/endpoint/endpoint.h"
#include "model/packet_arena.h"
#include "sim/border.h"
#include "sim/schemes/roce_codec.h"
#include "sim/sim_context.h"
#include "sim/switch_node.h"
#include "sim/timer.h"

namespace matchrdma::sim {

/// Duty: gives a ProxyEndpoint what comes, as real frames, and the switch what it lets out. Nothing of the
/// protocol is here.
class ProxyBorder final : public Border, private EventHandler, private EndpointSink {
 public:
  /// How long a polling core may take to come back to its ports.
  static constexpr SimSpan kPoll = SimSpan::nanos(500);

  /// pool: of both ends, since a frame on the long link is still the sender's copy.
  ProxyBorder(SimContext& context, SwitchNode& node, model::PacketArena& pool, const EndpointConfig& config);
  ProxyBorder(const ProxyBorder&) = delete;
  ProxyBorder& operator=(const ProxyBorder&) = delete;

  bool takes(SimPacket* p, bool from_long, SimTime now) override;
  void leaves(SimPacket&, bool, SimTime) override {}

  Registered register_qp(const Registration& reg, bool local_a, SimTime now);
  const ProxyEndpoint& proxy() const { return proxy_; }
  /// Of datagrams to the other end, bytes of frames.
  uint64_t control_bytes() const { return control_bytes_; }

 private:
  static Instant instant(SimTime t) { return Instant{t.ps / 1000}; }
  void on_event(SimTime now, uint64_t) override { run(now); }
  void run(SimTime now);
  void set_timer(SimTime now);
  void packet(OutItem& item) override;
  void datagram(Queue queue, Bytes udp_payload) override;

  SimContext& context_;
  SwitchNode& node_;
  model::PacketArena& pool_;
  RoceCodec codec_;
  SimTime now_{};
  ProxyEndpoint proxy_;
  Timer timer_;
  SimTime poll_at_ = SimTime::never();  ///< something waits to be taken
  int64_t held_ = 0;
  uint64_t control_bytes_ = 0;
};

}  // namespace matchrdma::sim
