#pragma once
// Two Shards with 64 QP pairs between them, and hosts that only count. Nothing in it depends on the machine.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataplane/shard/shard.h"
#include "dataplane/wire/frame_builder.h"
#include "model/packet_arena.h"

namespace matchrdma::instructions {

inline constexpr uint32_t kFlows = 64, kBurst = 32, kPayload = 1024;

/// Who runs the shards: what counts instructions looks at some runs only.
using Run = void (*)(Shard&, std::span<RxItem>, std::span<const Message>, Instant, Outbox&);

void unmeasured(Shard& shard, std::span<RxItem> burst, std::span<const Message> messages, Instant now,
                Outbox& out);

/// Headers from host A to host B, or back.
L2L3 path(bool from_a);
/// One packet of a WRITE of `of` packets to the receiver's queue pair; the last one asks for an ACK.
RoceSpec write_packet(Qpn to, uint32_t psn, uint32_t index, uint32_t of);

class World {
 public:
  /// `proxied`: the pairs are registered as early. Otherwise nobody knows them, and the proxies forward.
  explicit World(bool proxied);

  /// So many bursts of messages of `message` packets, the flows in turn, each burst with what the span and the
  /// receiver gave back since the last one.
  void send(uint32_t bursts, uint32_t message, Run run_a, Run run_b);
  /// Nothing new, until all is confirmed; then the first thing that is wrong, or nothing.
  std::string finish();

  uint64_t arrived_at_b() const { return arrived_at_b_; }  ///< packets off the span, at B
  uint64_t pseudo_acks() const { return a_.counters().pseudo_acks; }

 private:
  struct Flow {
    uint32_t sent = 0;       // packets
    uint32_t delivered = 0;  // at the receiver, in order
    uint32_t messages = 0;   // completed there
    uint32_t acked_end = 0;  // at the sender
  };
  void step(std::span<RxItem> burst, Run run_a, Run run_b);
  void leave(bool a);
  void received(const Frame& f);
  void acknowledged(const Frame& f);
  void wrong(const std::string& what);

  model::PacketArena arena_;  // before all that holds packets
  Shard a_, b_;
  Outbox out_a_{4 * kBurst}, out_b_{4 * kBurst};
  std::vector<RxItem> to_a_, to_b_;           // under way
  std::vector<Message> say_to_a_, say_to_b_;  // the same
  std::vector<Flow> flows_{kFlows};
  Instant now_;
  bool proxied_;
  uint32_t next_flow_ = 0;
  uint64_t arrived_at_b_ = 0;
  std::string wrong_;
};

}  // namespace matchrdma::instructions
