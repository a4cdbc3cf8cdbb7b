#pragma once
// How long a sender waits for the ACK of a message, with the proxies and without them.
#include <deque>
#include <initializer_list>
#include <vector>

#include "dataplane/flow/outbox.h"
#include "pcap/latency_histogram.h"
#include "pcap/packet_view.h"
#include "pcap/replay_fence.h"
#include "pcap/replay_options.h"

namespace matchrdma {

/// Duty: measures RC SEND and WRITE Last/Only packets that enter without a LAN gap before them and with no
/// READ-class request outstanding. Without proxies: captured latency plus the way there and back.
class ReplayLatency {
 public:
  ReplayLatency(const TraceFlows& flows, const ReplayFence& fence, Duration round_trip);
  /// A captured packet enters at `now`; it was captured at `captured`.
  void entered(const PacketView& v, Instant captured, Instant now);
  /// A packet has left into the LAN of its receiver.
  void left(const PacketView& v, Cause cause, Instant now);
  Percentiles with_proxy() const { return percentiles(with_); }
  /// Parts of it: answered by the receiver itself (no pseudo-ACKs yet) and by a proxy.
  Percentiles by_receiver() const { return percentiles(by_receiver_); }
  Percentiles by_proxy() const { return percentiles(by_proxy_); }
  Percentiles without_proxy() const { return percentiles(without_); }

 private:
  struct Waiting {
    Seq seq;
    Instant since;
  };
  struct Flow {
    Seq next = 0;  ///< PSN expected from the LAN; behind it lies no gap
    Seq end = 0;   ///< behind the highest seen
    std::deque<Waiting> with, without;
  };
  static constexpr size_t kMaxWaiting = 1 << 16;
  static Percentiles percentiles(const LatencyHistogram& h);
  static void settle(std::deque<Waiting>& waiting, Seq end, Instant now, Duration extra,
                     std::initializer_list<LatencyHistogram*> to);
  Seq covered_end(const PacketView& v, const Flow& f) const;

  const TraceFlows& flows_;
  const ReplayFence& fence_;
  Duration round_trip_;
  std::vector<Flow> state_;
  LatencyHistogram with_, by_receiver_, by_proxy_, without_;
};

}  // namespace matchrdma
