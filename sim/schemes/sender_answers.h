#pragma once
// What a device says to a sender in the name of its receiver.
#include <cstdint>

#include "sim/sim_context.h"
#include "sim/switch_node.h"

namespace matchrdma::sim {

/// The two ends of a flow, as one of its requests names them.
struct FlowEnds {
  uint32_t source = 0, destination = 0;  ///< hosts
  uint32_t source_qp = 0, destination_qp = 0;
  uint32_t flow = 0;
  static FlowEnds of(const SimPacket& data) {
    return {data.source, data.destination, data.source_qp, data.qp, data.flow};
  }
};

/// An ACK, NACK or CNP as if from the receiver of that flow.
SimPacket* make_answer(SimContext& context, FrameKind kind, const FlowEnds& to, int64_t expected);

/// Duty: lets answers go after a fixed time of work, in order. Does not know when one is called for.
class SenderAnswers final : private EventHandler {
 public:
  SenderAnswers(SimContext& context, SwitchNode& node, SimSpan work)
      : context_(context), node_(node), work_(work) {}
  SenderAnswers(const SenderAnswers&) = delete;
  SenderAnswers& operator=(const SenderAnswers&) = delete;

  void send(FrameKind kind, const FlowEnds& to, int64_t expected, SimTime now);

 private:
  void on_event(SimTime now, uint64_t) override;

  SimContext& context_;
  SwitchNode& node_;
  SimSpan work_;
  SimPacketFifo waiting_;  ///< one event is pending, of the first
};

}  // namespace matchrdma::sim
