#pragma once
// One switch with a border, fed by hand: what comes out on either side, and when.
#include <cstdint>
#include <vector>

#include "sim/link.h"
#include "sim/sim_context.h"
#include "sim/switch_node.h"

namespace matchrdma::sim {

struct Heard {
  FrameKind kind;
  int64_t seq;
  uint32_t source, destination, qp, flow;
  bool ce;
  SimTime at;
};

class HearingNode final : public Node {
 public:
  explicit HearingNode(SimContext& context) : context_(context) {}
  void receive(SimPacket* p, uint32_t, SimTime now) override {
    heard.push_back({p->kind, p->seq, p->source, p->destination, p->qp, p->flow, p->ce, now});
    context_.packets.release(p);
  }
  std::vector<int64_t> seqs(FrameKind kind) const {
    std::vector<int64_t> all;
    for (const Heard& h : heard)
      if (h.kind == kind) all.push_back(h.seq);
    return all;
  }
  std::vector<Heard> heard;

 private:
  SimContext& context_;
};

/// Duty: host 0 stands on this side of the long link, host 1 on the other. Both cables take no time but for the
/// frame itself.
template <class Border, class Settings>
struct OneNode {
  static constexpr uint32_t kLan = 0, kLong = 1, kHere = 0, kThere = 1;
  static constexpr uint32_t kSourceQp = 5, kDestinationQp = 7;

  explicit OneNode(const Settings& settings, const EcnSettings& ecn = {}) : border(context, node, settings) {
    node.add_port(to_lan, ecn);
    node.add_port(to_span, ecn);
    node.set_routes({{kLan}, {kLong}});
    node.set_border(border, kLong);
  }
  SimPacket* data(int64_t seq, uint32_t flow, bool leaves) {
    SimPacket* p = context.packets.alloc();
    p->seq = seq;
    p->payload = 1000;
    p->size = 1048;
    p->source = leaves ? kHere : kThere;
    p->destination = leaves ? kThere : kHere;
    p->qp = kDestinationQp;
    p->source_qp = kSourceQp;
    p->flow = flow;
    return p;
  }
  /// Data of a host here, for the long link.
  void sends(int64_t seq, uint32_t flow = 0) { node.receive(data(seq, flow, true), kLan, now()); }
  /// Data from over there.
  void comes(int64_t seq, uint32_t flow = 0) { node.receive(data(seq, flow, false), kLong, now()); }
  /// An answer from a receiver here, or from over there.
  void answers(FrameKind kind, int64_t seq, bool from_here, uint32_t flow = 0, bool cnp = false) {
    SimPacket* p = context.packets.alloc();
    p->kind = kind;
    p->traffic_class = kControlClass;
    p->size = 66;
    p->seq = seq;
    p->source = from_here ? kHere : kThere;
    p->destination = from_here ? kThere : kHere;
    p->qp = kSourceQp;
    p->flow = flow;
    p->cnp = cnp;
    node.receive(p, from_here ? kLan : kLong, now());
  }
  SimTime now() const { return context.events.now(); }
  void run_ns(int64_t ns) { context.events.run_until(now() + SimSpan::nanos(ns)); }

  SimContext context{};
  HearingNode lan{context}, span{context};
  Link to_lan{context, {.delay = {}}, lan, 0}, to_span{context, {.delay = {}}, span, 0};
  SwitchNode node{context, 0, {}};
  Border border;
};

}  // namespace matchrdma::sim
