#pragma once
// One worker's end of the control subchannel: typed messages in, sealed datagrams out, and back.
#include <memory>

#include "controlplane/channel/batcher.h"
#include "controlplane/channel/seal.h"

namespace matchrdma {

/// Takes finished datagrams (UDP payloads), in the order in which they must enter their queue.
class DatagramSink {
 public:
  virtual ~DatagramSink() = default;
  virtual void datagram(Queue queue, Bytes udp_payload) = 0;
};

struct ChannelCounters {
  uint64_t sealed = 0;         ///< datagrams sent
  uint64_t no_session = 0;     ///< messages given up because no session is up (the reliable ones come again)
  uint64_t unsealed = 0;       ///< datagrams given up: the session went away or its counter is used up
  uint64_t unencodable = 0;    ///< messages that break a rule of their layout
  uint64_t opened = 0;         ///< datagrams whose seal is right and that are new
  uint64_t truncated = 0;      ///< too short, or too long, for a session datagram
  uint64_t foreign = 0;        ///< another version, a kind that is not ours, another worker
  uint64_t stale_session = 0;  ///< of a session that is over, or not known here yet
  uint64_t bad_seal = 0;
  uint64_t replayed = 0;
  uint64_t broken_framing = 0;  ///< opened, but its message lengths do not add up: nothing of it is used
  uint64_t wrong_queue = 0;     ///< messages that came in the other queue's datagram: not used (H1)
  DecodeCounts messages;        ///< malformed, unknown type
  bool operator==(const ChannelCounters&) const = default;
  /// What another worker counted.
  void add(const ChannelCounters& o);
};

/// Seals under the newest session and opens under all that the snapshot names. Joins worker N here to worker N
/// of the peer. One object per worker for the life of the PeerSession: a second one would count from 0 again
/// under the same key. Knows nothing of handshakes, sockets or what the messages mean.
class WorkerChannel {
 public:
  explicit WorkerChannel(uint16_t worker) : worker_(worker) {}

  /// Takes new keys. Sessions that stay keep their counters and replay windows. An older snapshot is ignored.
  void update(const SessionSnapshot& snapshot);

  /// Queues one message; datagrams that became full go out. Control is batched until flush(). What must travel
  /// in order with packets is batched until flush_data(), which the host calls before each packet to the span.
  void send(const Message& m, DatagramSink& sink);
  void flush_data(DatagramSink& sink) { flush(Queue::kData, sink); }
  void flush(DatagramSink& sink) {
    flush(Queue::kControl, sink);
    flush(Queue::kData, sink);
  }

  /// Appends the messages of one datagram in order; whatever is wrong is counted and changes nothing.
  void receive(Bytes udp_payload, std::vector<Message>& out);

  bool up() const { return sealer_ != nullptr; }
  /// Half of the counter is used: ask the PeerSession for a new session.
  bool wants_new_session() const { return sealer_ != nullptr && sealer_->wants_new_session(); }
  const ChannelCounters& counters() const { return n_; }

 private:
  void flush(Queue queue, DatagramSink& sink);
  Opener* opener(uint64_t tag);
  void deliver(Queue queue, Bytes payload, std::vector<Message>& out);

  uint16_t worker_;
  uint64_t snapshot_ = 0;
  std::unique_ptr<Sealer> sealer_;
  std::vector<std::unique_ptr<Opener>> openers_;
  std::array<Batcher, kQueues> batch_;
  std::array<uint8_t, kMaxDatagramBytes> buffer_;
  ChannelCounters n_;
};

}  // namespace matchrdma
