#pragma once
// Workload W1 (SIMULATOR 5): each pair keeps C messages of S bytes outstanding.
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/network.h"

namespace matchrdma::sim {

struct ClosedLoopSettings {
  int64_t message_bytes = 4096;  ///< S
  uint32_t outstanding = 1;      ///< C, of each flow
  uint64_t messages = 0;         ///< of each flow; 0: no end
};

/// What became of the messages of one flow.
struct MessageTimes {
  std::vector<SimSpan> at_sender;    ///< from post to the last ACK
  std::vector<SimSpan> at_receiver;  ///< from post to the last byte in order
  int64_t delivered_bytes = 0;       ///< payload, in order
  int64_t acknowledged_bytes = 0;    ///< of complete messages
};

/// Duty: posts the next message when one completes at its sender, and notes when each was done at either end.
/// One message per QP, as the forks have it, is `outstanding = messages = 1` on many flows.
class ClosedLoop final : public HostListener {
 public:
  /// Listens at all hosts of the network.
  ClosedLoop(Network& network, const ClosedLoopSettings& settings);

  /// Takes part from now on.
  void start(const Flow& flow);
  /// Every flow with an end has reached it.
  bool done() const { return unfinished_ == 0; }
  const MessageTimes& times(size_t flow) const { return flows_[flow].times; }
  size_t flows() const { return flows_.size(); }

 private:
  struct State {
    Flow flow;
    MessageTimes times{};
    uint64_t posted = 0;
    std::deque<SimTime> not_acknowledged{}, not_delivered{};  ///< when they were posted
  };
  void post(State& s);
  void on_acknowledged(uint32_t host, uint32_t qp, size_t messages, SimTime now) override;
  void on_delivered(uint32_t host, uint32_t qp, int64_t bytes, bool message_ended, SimTime now) override;

  Network& network_;
  ClosedLoopSettings s_;
  std::vector<State> flows_;
  std::vector<std::vector<uint32_t>> flow_of_sender_, flow_of_receiver_;  ///< by host and QP
  size_t unfinished_ = 0;
};

}  // namespace matchrdma::sim
