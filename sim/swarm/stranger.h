#pragma once
// Packets that nobody should believe: noise, torn frames, forged headers.
#include <vector>

#include "dataplane/base/packet.h"
#include "dataplane/base/prng.h"
#include "dataplane/flow/flow_key.h"

namespace matchrdma::swarm {

/// Makes hostile packets from a seed and from what it overhears. None of them proves anything: each is no
/// RoCEv2 packet, or its ICRC is wrong. Does not know where they go.
class Stranger {
 public:
  Stranger(uint64_t seed, PacketPool& pool) : prng_(seed), pool_(pool) {}

  /// A frame that really travels; some are kept to be forged.
  void overhear(Bytes frame);
  /// Empty when the pool is.
  PacketRef packet();

 private:
  PacketRef noise();
  PacketRef torn();
  PacketRef spoiled();
  PacketRef forged();
  PacketRef pause();
  PacketRef copy(Bytes b);

  static constexpr size_t kKept = 16;
  Prng prng_;
  PacketPool& pool_;
  std::vector<std::vector<uint8_t>> overheard_;
  size_t next_ = 0;
};

/// An ACK with a right ICRC for a PSN that was never sent, far above `highest_end`, to the sender of the flow.
PacketRef ack_out_of_range(const FlowKey& flow, Qpn sender, int64_t highest_end, Prng& prng, PacketPool& pool);

}  // namespace matchrdma::swarm
