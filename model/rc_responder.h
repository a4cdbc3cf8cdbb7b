#pragma once
// The receiving half of an RC queue pair (IBA 9.7.4, 9.7.5, 9.9.3): executes each request once, in order.
#include <cstdint>
#include <vector>

#include "dataplane/base/packet.h"
#include "dataplane/base/prng.h"
#include "dataplane/base/time.h"
#include "dataplane/base/types.h"
#include "dataplane/wire/frame.h"
#include "model/memory.h"
#include "model/rc_types.h"
#include "model/violation.h"

namespace matchrdma::model {

enum class AckPolicy : uint8_t {
  kEveryAckReq,  ///< an ACK at once for every AckReq
  kDelayed,      ///< after ack_delay: one ACK covers what came meanwhile
  kMessageEnd,   ///< at once at message ends, after ack_delay inside a message
};

struct ResponderConfig {
  AckPolicy ack = AckPolicy::kEveryAckReq;
  Duration ack_delay = Duration::micros(10);
  int64_t receive_queue = -1;  ///< receive work requests posted at the start and at most; -1: never runs out
  Duration refill_every = Duration::micros(50);  ///< mean time until the application posts more
  int64_t refill_batch = 4;                      ///< at most so many each time
  bool advertise_credits = false;                ///< AETH credit code of the receive queue, else 31
  bool credit_updates = true;                    ///< an unasked ACK when an empty receive queue is filled again
  uint8_t rnr_timer = 12;                        ///< code in the RNR NAK
  bool nak_after_rnr = true;     ///< rxe: what follows a refused packet earns a sequence NAK too
  size_t atomic_resources = 16;  ///< results kept for duplicates
  bool log = true;               ///< keep the execution log
};

struct ResponderStats {
  uint64_t executed = 0, duplicates = 0, out_of_sequence = 0;
  uint64_t acks = 0, sequence_naks = 0, rnr_naks = 0, read_responses = 0, atomic_acks = 0;
  uint64_t replayed_reads = 0, replayed_atomics = 0, forgotten_atomics = 0;
  uint64_t after_failure = 0;
};

/// Executes requests into memory and receive queue and answers them. Every byte is compared with the
/// requester's truth where there is one. Knows neither its NIC nor the path.
class RcResponder {
 public:
  struct Execution {
    Seq seq = 0;
    Instant at{};
    uint8_t opcode = 0;
  };
  struct Received {
    uint64_t bytes = 0;
    uint32_t imm = 0;  ///< immediate data or the invalidated key
    uint8_t opcode = 0;
    Instant at{};
  };

  RcResponder(const QpIdentity& id, const ResponderConfig& config, const MemoryConfig& memory, uint64_t seed);

  /// What the peer's requester would send; must outlive this object. None: only the content of payloads is
  /// checked.
  void set_truth(const RequestTruth* truth) { truth_ = truth; }
  /// A request for this QP, ICRC right.
  void on_request(const Frame& f, Instant now);
  /// Next packet to send; empty when there is nothing (or the pool is exhausted).
  PacketRef poll(Instant now, PacketPool& pool);
  bool ready(Instant now) const { return head_ < replies_.size() || now >= next_timer(); }
  Instant next_timer() const { return failed_ ? Instant::never() : earlier(ack_due_, refill_due_); }

  /// Fault injection: the first new request at or behind `seq` gets this fatal NAK and the QP fails.
  void inject_nak(uint8_t syndrome, Seq seq);
  /// The QP failed for a reason outside: silence from now on.
  void fail();
  /// Posts receive work requests beyond the automatic ones.
  void post_receives(int64_t n, Instant now);
  /// At rest: memory must equal the requester's shadow. Records kMemoryDiffers if not.
  bool check_memory(const ShadowMemory& shadow, Instant now);

  Seq expected() const { return epsn_; }     ///< everything below was executed
  int64_t messages() const { return msn_; }  ///< unwrapped MSN
  bool failed() const { return failed_; }
  int64_t receives_posted() const { return receives_; }
  const std::vector<Execution>& executions() const { return executions_; }
  const std::vector<Received>& received() const { return received_; }
  const Memory& memory() const { return memory_; }
  const ResponderStats& stats() const { return stats_; }
  const ViolationLog& violations() const { return violations_; }

 private:
  enum class Message : uint8_t { kNone, kSend, kWrite };
  enum class ReplyKind : uint8_t { kAeth, kAtomic, kRead };
  struct Reply {
    ReplyKind kind = ReplyKind::kAeth;
    uint8_t syndrome = 0;
    bool first = true;
    uint32_t left = 0;  // READ: bytes to send
    Seq seq = 0;
    int64_t msn = 0;
    uint64_t value = 0;  // READ: address; atomic: original value
  };
  struct AtomicResult {
    Seq seq = 0;
    uint64_t original = 0;
  };

  void execute(const Frame& f, Instant now);
  bool fits_message(const Frame& f) const;
  bool allowed(const Frame& f) const;
  bool receiver_not_ready(const Frame& f) const;
  void run_send(const Frame& f, Instant now);
  void run_write(const Frame& f, Instant now);
  void queue_read(const Frame& f, Seq s);
  void run_atomic(const Frame& f);
  void queue_atomic(Seq s, uint64_t original);
  void take_receive(Instant now);
  void on_duplicate(const Frame& f, Seq s, Instant now);
  void on_gap();
  void check_truth(const Frame& f, Seq s, Instant now);
  void fatal(uint8_t syndrome);
  void aeth(uint8_t syndrome, Seq seq);
  void acknowledge(bool message_end, Instant now);
  void send_ack();
  void run_timers(Instant now);
  void schedule_refill(Instant now);
  uint8_t ack_syndrome() const;
  int64_t psns_of(uint32_t length) const;
  void pop_reply();

  QpIdentity id_;
  ResponderConfig config_;
  Memory memory_;
  Prng prng_;
  const RequestTruth* truth_ = nullptr;
  Seq epsn_;
  int64_t msn_ = 0;
  bool heard_ = false, failed_ = false;
  bool nak_pending_ = false;  // one sequence NAK for one gap (IBA 9.7.5)
  Message message_ = Message::kNone;
  uint64_t message_bytes_ = 0, write_va_ = 0;
  uint64_t write_left_ = 0;
  int64_t receives_ = 0;
  Instant ack_due_ = Instant::never(), refill_due_ = Instant::never();
  uint8_t fault_ = 0;
  Seq fault_at_ = 0;
  std::vector<Reply> replies_;  // answers leave in the order of the requests
  size_t head_ = 0;
  std::vector<AtomicResult> atomics_;  // ring
  size_t next_atomic_ = 0;
  std::vector<Execution> executions_;
  std::vector<Received> received_;
  ResponderStats stats_;
  ViolationLog violations_;
};

}  // namespace matchrdma::model
