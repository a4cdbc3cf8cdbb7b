#pragma once
// The sealed subchannel of a proxy with one worker and one peer (PROTOCOL 6): what its Shard says goes into
// datagrams, and back.
#include <functional>
#include <vector>

#include "controlplane/channel/peer_session.h"
#include "controlplane/channel/worker_channel.h"
#include "dataplane/base/prng.h"
#include "dataplane/flow/outbox.h"

namespace matchrdma {

/// Seeded: a run in virtual time happens the same way again. A daemon takes the system's.
class SeededEntropy : public Entropy {
 public:
  explicit SeededEntropy(uint64_t seed) : prng_(seed) {}
  void fill(MutableBytes out) override;

 private:
  Prng prng_;
};

/// Duty: one end of the channel, under a key that is no secret. Does not know the span: datagrams go to `send`,
/// in the order of their queues.
class SoleChannel : private DatagramSink {
 public:
  using Send = std::function<void(Queue queue, Bytes datagram)>;
  SoleChannel(uint64_t seed, Instant now, Send send);
  SoleChannel(const SoleChannel&) = delete;

  /// HELLOs that are due.
  void poll(Instant now);
  Instant next_wakeup() const { return peer_.next_wakeup(); }
  bool up() const { return channel_.up(); }
  void say(const Message& m) { channel_.send(m, *this); }
  /// A packet follows into the data queue: what speaks of the packets before it goes first.
  void before_packet() { channel_.flush_data(*this); }
  void flush() { channel_.flush(*this); }
  /// Appends the messages in the datagram.
  void take(Bytes datagram, Instant now, std::vector<Message>& messages);
  const ChannelCounters& counters() const { return channel_.counters(); }

 private:
  void datagram(Queue queue, Bytes udp_payload) override { send_(queue, udp_payload); }
  void act(PeerOutput& out);

  SeededEntropy entropy_;
  PeerSession peer_;
  WorkerChannel channel_{0};
  Send send_;
};

}  // namespace matchrdma
