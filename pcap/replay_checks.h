#pragma once
// Witness of the delivery: what entered one LAN must leave on the other, once, in order, unchanged.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "dataplane/flow/outbox.h"
#include "pcap/packet_view.h"
#include "pcap/replay_fence.h"
#include "pcap/replay_options.h"
#include "pcap/seq_window.h"

namespace matchrdma {

/// Duty: compares RC packets at the two LAN ports, by flow, generation and PSN. Does not know how they got
/// across.
class ReplayChecks {
 public:
  explicit ReplayChecks(const TraceFlows& flows);

  /// A captured packet enters its LAN port.
  void entered(const PacketView& v);
  /// The span swallowed or spoiled a packet on its way.
  void lost_on_span(const PacketView& v);
  /// A proxy put a packet into its LAN.
  void left(const PacketView& v, Cause cause);

  /// Requests that entered and have not left yet, of flows in custody.
  uint64_t missing() const { return in_ - out_; }
  uint64_t repaired() const { return repaired_; }
  uint64_t responses_lost() const { return responses_lost_; }
  /// Delivered requests that the recording never answers.
  uint64_t unanswered() const;
  /// Of the missing ones: those that the span lost. Nobody had them in custody, and a recording does not
  /// repeat.
  uint64_t gone_on_span() const;
  const ReplayFence& fence() const { return fence_; }
  DeliveryReport report() const;

 private:
  struct Request {
    uint64_t fingerprint = 0;          ///< of its first copy
    std::vector<uint64_t> variants{};  ///< of later ones that differ: a sender may resend a FIRST as MIDDLE
    bool out = false, lost_on_span = false;
    bool new_life = false;  ///< below the newest, of a QP used anew: it came so and may leave so
    bool entered_as(uint64_t f) const {
      return f == fingerprint || std::find(variants.begin(), variants.end(), f) != variants.end();
    }
  };
  struct Flow {
    Seq in_near = 0, out_near = 0;
    Seq in_reach = 0;     ///< newest PSN that entered or that a READ which entered may occupy
    Seq out_highest = 0;  ///< first copies left up to here
    bool any_out = false;
    Seq forgotten = 0;     ///< requests below are complete and not remembered
    Seq answered_end = 0;  ///< the recording's answers cover everything below
    SeqWindow<Request> requests;
    uint64_t unanswered_forgotten = 0, gone_forgotten = 0;
  };
  static constexpr size_t kRemembered = 1 << 17;
  static constexpr Seq kSlack = 4096;

  Flow& flow(int stream) { return state_[static_cast<size_t>(stream)]; }
  void request_entered(const PacketView& v);
  void answer_entered(const PacketView& v);
  void request_left(const PacketView& v, Cause cause);
  void aeth_of_ours(const PacketView& v);
  bool owned_in_an_earlier_life(int stream, Psn psn) const;
  void trim(Flow& f);

  const TraceFlows& flows_;
  ReplayFence fence_;
  std::vector<Flow> state_;
  DeliveryReport report_;
  std::vector<uint64_t> copies_;
  uint64_t in_ = 0, out_ = 0, repaired_ = 0, responses_lost_ = 0;
  uint64_t response_sum_in_ = 0, response_sum_out_ = 0, response_sum_lost_ = 0;
};

}  // namespace matchrdma
