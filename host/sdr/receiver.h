#pragma once
// The receiving half: grants buffers ahead, sees what has arrived, says so, and decides when a message is
// there.
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "host/fabric/nic.h"
#include "host/sdr/coded.h"
#include "host/sdr/options.h"
#include "host/sdr/signal.h"
#include "host/sdr/slot_table.h"

namespace matchrdma::host {

/// A range of packets that never came (best effort): of the message, and zero-filled; with the transform of
/// what was sent in its place, and no element is zero for it.
struct MissingRange {
  uint64_t offset = 0, length = 0;  ///< bytes
};

struct ReceiveDone {
  uint64_t message = 0;
  uint64_t length = 0;  ///< bytes
  std::vector<MissingRange> missing{};
};

struct ReceiverCounters {
  uint64_t packets = 0, duplicates = 0, stale = 0;
  uint64_t bad_signals = 0;
  uint64_t decoded_packets = 0;  ///< computed from parity
  uint64_t acks = 0;
};

/// Duty: rules 1 to 3 of HOST.md at the receiver. The key of a message ends before the application gets its
/// buffer. Does not know how the sender repairs. Time is an argument.
class SdrReceiver {
 public:
  SdrReceiver(const SdrShape& shape, const ReceiverOptions& options, Nic& nic);
  ~SdrReceiver();
  SdrReceiver(const SdrReceiver&) = delete;

  /// The buffer of the next message. Its number, or nothing: all slots are taken; an error: the NIC takes no
  /// more memory. The buffer is the library's until take_done() names the message.
  Result<std::optional<uint64_t>> receive_post(MutableBytes buffer, Instant now);
  /// Packets of a message that is under way; nullptr: no such message.
  const PacketSet* bitmap(uint64_t message) const;
  std::optional<ReceiveDone> take_done();
  /// Messages that were posted and are not done.
  size_t under_way() const;

  /// The NIC wrote a packet.
  void on_packet(uint32_t immediate, Instant now);
  void on_state(const SenderState& s, Instant now);
  /// Signals that are due. Call at next_wakeup() at the latest.
  void poll(Instant now, std::vector<Signal>& out);
  Instant next_wakeup() const;

  const ReceiverCounters& counters() const { return n_; }

 private:
  struct Message;
  Message* find(uint64_t number);
  Result<void> open(Message& m, Instant now);
  void learn_length(Message& m, uint64_t length);
  MutableBytes memory(Message& m) const;
  bool own_memory() const { return options_.copy || shape_.hadamard; }
  void decode(Message& m);
  void look(Message& m, Instant now);
  void finish(Message& m, Instant now);
  void close(Message& m);
  /// Best effort; otherwise never.
  Instant gives_up_at(const Message& m) const;
  uint32_t judged_below(const Message& m, Instant now) const;
  void say_acks(Message& m, Instant now, std::vector<Signal>& out);
  void say_state(Instant now, std::vector<Signal>& out);
  Echo echo(Instant now) const;
  Duration ack_every() const;

  SdrShape shape_;
  ReceiverOptions options_;
  Nic& nic_;
  SlotTable slots_;
  std::optional<ErasureCode> code_;
  std::map<uint64_t, std::unique_ptr<Message>> messages_;  ///< posted and not finished by the sender's FIN
  Message* newest_ = nullptr;                              ///< of the last packet
  std::vector<std::vector<uint8_t>> spare_;                ///< library memory that is free again
  uint64_t next_message_ = 0, finished_below_ = 0;
  std::deque<ReceiveDone> done_;
  std::vector<uint32_t> restored_;  ///< of one call
  Instant heard_sent_ = Instant::never(), heard_at_;
  Duration round_trip_ = Duration::millis(10);
  uint64_t granted_below_ = 0;  ///< as the sender has told
  Instant state_at_ = Instant::never();
  ReceiverCounters n_;
};

}  // namespace matchrdma::host
