#pragma once
// Who posts what, and what became of it: the part that all workloads share (SIMULATOR 5 and 7).
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/network.h"

namespace matchrdma::sim {

/// One message, from its post on. A time that has not come is never.
struct MessageRecord {
  uint32_t flow = 0;  ///< number in the workload
  int64_t bytes = 0;
  SimTime posted{};
  SimTime delivered = SimTime::never();     ///< last byte in order at the receiver
  SimTime acknowledged = SimTime::never();  ///< last (pseudo-)ACK at the sender
};

/// Duty: the QPs of a workload and the record of every message. What is posted, and when, is decided by what
/// derives from it. Messages of a QP are delivered and acknowledged in the order of their posts.
class Workload : public HostListener {
 public:
  /// Makes a QP from one host to another, whatever else the run needs for it.
  using Open = std::function<Flow(uint32_t source, uint32_t destination)>;

  /// Listens at all hosts of the network.
  explicit Workload(Network& network);
  virtual ~Workload() = default;

  /// Opens all the QPs that it will use. Once, before start().
  virtual void open(const Open& open) = 0;
  /// Posts from now on.
  virtual void start() = 0;
  /// It has an end, and has reached it: every message is acknowledged and delivered.
  virtual bool done() const = 0;

  const std::vector<MessageRecord>& messages() const { return messages_; }
  size_t flows() const { return flows_.size(); }
  const Flow& flow(size_t f) const { return flows_[f].flow; }
  int64_t delivered_bytes(size_t f) const { return flows_[f].delivered_bytes; }        ///< payload, in order
  int64_t acknowledged_bytes(size_t f) const { return flows_[f].acknowledged_bytes; }  ///< of complete messages

 protected:
  /// Returns the flow's number.
  uint32_t add(const Flow& flow);
  /// Returns the message's number.
  size_t post(uint32_t flow, int64_t bytes);
  /// Posted and not yet both acknowledged and delivered.
  size_t outstanding() const { return outstanding_; }
  Network& network() { return network_; }

  virtual void message_acknowledged(size_t message, SimTime now) = 0;
  virtual void message_delivered(size_t message, SimTime now) = 0;

 private:
  struct State {
    Flow flow;
    std::vector<size_t> messages{};          ///< numbers, in the order of their posts
    size_t acknowledged = 0, delivered = 0;  ///< how many of them
    int64_t delivered_bytes = 0, acknowledged_bytes = 0;
  };
  void on_acknowledged(uint32_t host, uint32_t qp, size_t messages, SimTime now) override;
  void on_delivered(uint32_t host, uint32_t qp, int64_t bytes, bool message_ended, SimTime now) override;
  void settle(const MessageRecord& m);

  Network& network_;
  std::vector<State> flows_;
  std::vector<MessageRecord> messages_;
  std::vector<std::vector<uint32_t>> flow_of_sender_, flow_of_receiver_;  ///< by host and QP
  size_t outstanding_ = 0;
};

}  // namespace matchrdma::sim
