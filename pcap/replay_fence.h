#pragma once
// READ-class requests without their complete response, as an independent witness of the ceiling (C1, C3).
#include <optional>
#include <vector>

#include "pcap/packet_view.h"
#include "pcap/seq_window.h"

namespace matchrdma {

/// Duty: says which READ-class PSN of a flow is the first unanswered one, seen at the requester's LAN port.
class ReplayFence {
 public:
  explicit ReplayFence(const TraceFlows& flows);
  /// A READ-class request has entered from the requester's LAN.
  void requested(const PacketView& v, Seq seq);
  /// A READ response or atomic ACK has left into the requester's LAN.
  void answered(const PacketView& v);
  /// First unanswered READ-class PSN of the flow.
  std::optional<Seq> first_unanswered(int request_stream) const;

 private:
  struct Open {
    Seq begin = 0, end = 0;
    Seq next = 0;  ///< next response PSN
  };
  const TraceFlows& flows_;
  std::vector<std::vector<Open>> open_;  ///< per request stream, ascending
};

}  // namespace matchrdma
