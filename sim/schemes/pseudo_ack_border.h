#pragma once
// Pseudo-ACKs at the ends of a long link, after NTT's RDMA accelerator (SIMULATOR 6).
#include <cstdint>
#include <unordered_map>

#include "sim/border.h"
#include "sim/schemes/copy_queue.h"
#include "sim/schemes/forward_track.h"
#include "sim/schemes/pseudo_ack_settings.h"
#include "sim/schemes/sender_answers.h"
#include "sim/sim_context.h"
#include "sim/switch_node.h"
#include "sim/timer.h"

namespace matchrdma::sim {

/// Duty: one device, near to the flows that leave its site and far for those that come. Near, it acknowledges
/// each request that is in order without regard to the far side, keeps a copy, and sends copies again. Far, it
/// keeps order, ends the receivers' ACKs and NACKs, and tells the near device what they mean; on the long link
/// ACK and NACK are the devices' own. CNPs pass. Requests that need not wait go through the switch as any
/// packet does, with its accounting, marks and pauses. WRITE and SEND only: READ pseudo-requests are not
/// modelled.
class PseudoAckBorder final : public Border, private EventHandler {
 public:
  PseudoAckBorder(SimContext& context, SwitchNode& node, const PseudoAckSettings& settings)
      : context_(context),
        node_(node),
        s_(settings),
        answers_(context, node, settings.proc),
        memory_(settings.copy_bytes) {}
  PseudoAckBorder(const PseudoAckBorder&) = delete;
  PseudoAckBorder& operator=(const PseudoAckBorder&) = delete;

  bool takes(SimPacket* p, bool from_long, SimTime now) override;
  void leaves(SimPacket& p, bool to_long, SimTime now) override;

  const CopyMemory& copies() const { return memory_; }
  uint64_t sent_again() const { return sent_again_; }        ///< packets
  uint64_t control_bytes() const { return control_bytes_; }  ///< of what devices say to each other, frames

 private:
  /// A flow that leaves this site.
  struct Near {
    Near(const SimPacket& data, PseudoAckBorder& border)
        : ends(FlowEnds::of(data)),
          traffic_class(data.traffic_class),
          copies(border.memory_, border.s_.round_trip),
          nack(border.s_.nack_gap),
          timer(border.context_.events, border, data.flow),
          pace(border.context_.events, border, kResend | data.flow) {}
    FlowEnds ends;
    uint8_t traffic_class;
    CopyQueue copies;
    AskOnce nack;
    Timer timer;  ///< for news of the receiver
    Timer pace;   ///< of copies that go again
  };
  static constexpr uint64_t kResend = uint64_t{1} << 32;       ///< above all flows' numbers
  static constexpr int64_t kMostQueued = 64 << 10;             ///< bytes of copies in the switch's queue
  static constexpr SimSpan kQueuedWait = SimSpan::nanos(500);  ///< then others wait so long

  void on_event(SimTime now, uint64_t argument) override;
  bool from_sender(SimPacket* p, SimTime now);
  bool from_near_device(SimPacket* p, SimTime now);
  bool from_receiver(SimPacket* p, SimTime now);
  bool from_far_device(SimPacket* p, SimTime now);
  void resend(Near& f, SimTime now);
  void tell(SimPacket* message, SimTime now);
  ForwardTrack& far(uint32_t flow) { return far_.try_emplace(flow, s_.round_trip).first->second; }

  SimContext& context_;
  SwitchNode& node_;
  PseudoAckSettings s_;
  SenderAnswers answers_;
  CopyMemory memory_;
  std::unordered_map<uint32_t, Near> near_;  ///< by flow
  std::unordered_map<uint32_t, ForwardTrack> far_;
  int64_t queued_bytes_ = 0;  ///< of copies, in the switch's queue
  uint64_t sent_again_ = 0, control_bytes_ = 0;
};

}  // namespace matchrdma::sim
