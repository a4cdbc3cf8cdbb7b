#pragma once
// The hosts of the benchmark: senders that write messages over many QPs, and their receivers.
#include <cstdint>
#include <vector>

#include "dataplane/flow/message.h"
#include "dataplane/io/ring/primitives.h"

namespace matchrdma::dataplane_bench {

struct TrafficOptions {
  uint32_t flows = 1000;
  uint32_t payload = 1024;        ///< bytes of each packet
  uint32_t message_packets = 16;  ///< the last one asks for an ACK
};

/// Duty: makes the requests of all flows in an order that was drawn once, checks that receivers get each once
/// and in order, and answers. Knows no proxy.
class Traffic {
 public:
  explicit Traffic(const TrafficOptions& o);

  Registration registration(uint32_t flow, Completion completion) const;
  std::vector<io::FlowName> names() const;
  /// Empty when the pool is.
  PacketRef next_request(PacketPool& pool);
  /// Of a flow whose message is not whole yet; false: there is none.
  bool unfinished();
  /// What a receiver is given. Its answer, if it owes one.
  PacketRef receive(Bytes frame, PacketPool& pool);
  /// What a sender is given.
  void acknowledged(Bytes frame);

  uint64_t sent() const { return sent_; }
  uint64_t received() const { return received_; }
  uint64_t acks() const { return acks_; }
  uint64_t wrong() const { return wrong_; }        ///< out of order, or not understood
  uint64_t repeated() const { return repeated_; }  ///< what had come: a proxy asks where its receiver is

 private:
  struct Flow {
    uint32_t psn = 0, packet = 0;    ///< of the sender: next
    uint32_t expected = 0, msn = 0;  ///< of the receiver
  };
  TrafficOptions o_;
  std::vector<Flow> flows_;
  std::vector<uint32_t> order_;
  std::vector<uint8_t> payload_;
  size_t turn_ = 0;
  uint64_t sent_ = 0, received_ = 0, acks_ = 0, wrong_ = 0, repeated_ = 0;
};

}  // namespace matchrdma::dataplane_bench
