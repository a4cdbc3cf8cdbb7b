#pragma once
// The sending half of an RC queue pair as IBA chapter 9.7 and 9.9.2 want it, with the habits of rxe and mlx5.
#include <cstdint>
#include <vector>

#include "dataplane/base/packet.h"
#include "dataplane/base/time.h"
#include "dataplane/base/types.h"
#include "dataplane/wire/frame.h"
#include "model/memory.h"
#include "model/rc_types.h"
#include "model/violation.h"

namespace matchrdma::model {

inline constexpr int kRetryUnlimited = -1;

struct RequesterConfig {
  int64_t window_psns = 128;  ///< PSNs unacknowledged at most (rxe); 0: no limit but 2^22
  int64_t ack_every = 64;  ///< AckReq at least so often besides message ends: 64 rxe, 256 mlx5, 1 every packet
  Duration timeout = Duration::millis(67);
  bool exponential_timeout = false;  ///< doubles on each timeout in a row, up to 64 times
  int retry_count = 7;               ///< or kRetryUnlimited
  int rnr_retry = 7;                 ///< 7: unlimited (IBA 9.7.5.2.8)
  int max_rd_atomic = 4;             ///< READs and atomics outstanding, at least 1
  bool use_credits = false;          ///< end-to-end flow control
};

/// Linux Soft-RoCE.
constexpr RequesterConfig rxe_requester() { return {}; }
/// ConnectX: no window in PSNs (bound the bytes by what is posted), an ACK every 256 packets.
constexpr RequesterConfig mlx5_requester() {
  RequesterConfig c;
  c.window_psns = 0;
  c.ack_every = 256;
  return c;
}

struct RequesterStats {
  uint64_t packets = 0, retransmitted = 0;
  uint64_t acks = 0, stale = 0;  ///< stale: ACK, NAK or response older than what is outstanding
  uint64_t sequence_naks = 0, rnr_naks = 0, timeouts = 0;
  uint64_t implied_naks = 0;  ///< something past an unanswered READ or atomic was acknowledged or answered
  uint64_t cnps = 0;
};

/// Posts, sends, retries and completes work requests, and watches what the network answers. Knows neither its
/// NIC nor the path: packets come out of poll(), answers go into on_response().
class RcRequester final : public RequestTruth {
 public:
  /// A work request and its fate.
  struct Record {
    WorkRequest wr;
    Seq first = 0;
    int64_t psns = 1;
    uint64_t expected_original = 0;  ///< what an atomic must return
    Instant posted{}, completed = Instant::never();
    WcStatus status = WcStatus::kPending;
    bool issued = false;  ///< READ or atomic sent since the last go-back
    Seq last() const { return first + psns - 1; }
  };

  RcRequester(const QpIdentity& id, const RequesterConfig& config, const MemoryConfig& remote_memory);

  /// Returns the index of the record. A failed QP flushes it at once.
  size_t post(const WorkRequest& wr, Instant now);
  /// ACK, NAK, READ response or atomic ACK for this QP, ICRC right.
  void on_response(const Frame& f, Instant now);
  void on_cnp() { ++stats_.cnps; }
  /// Next packet to send; empty when there is nothing (or the pool is exhausted).
  PacketRef poll(Instant now, PacketPool& pool);
  bool ready(Instant now) const;
  /// When a timer wants poll(); never() when none runs.
  Instant next_timer() const;
  /// The QP failed for a reason outside (its other half): everything is flushed.
  void fail(WcStatus reason, Instant now);

  bool describe(Seq seq, RequestInfo& out) const override;

  const std::vector<Record>& records() const { return records_; }
  size_t completed() const { return una_wr_; }  ///< records [0, completed) are done, or all if failed
  bool idle() const { return failed() || una_wr_ == records_.size(); }
  bool failed() const { return failure_ != WcStatus::kPending; }
  WcStatus failure() const { return failure_; }
  Seq oldest_unacknowledged() const { return una_; }
  Seq next_new() const { return max_sent_; }  ///< PSNs below were sent at least once
  const ShadowMemory& shadow() const { return shadow_; }
  const RequesterStats& stats() const { return stats_; }
  const ViolationLog& violations() const { return violations_; }

 private:
  void on_ack(Seq p, Instant now);
  void on_sequence_nak(Seq p, Instant now);
  void on_rnr_nak(Seq p, uint8_t timer, Instant now);
  void on_fatal_nak(Seq p, uint8_t syndrome, Instant now);
  void on_data(const Frame& f, Seq p, Instant now);
  void take_read_response(const Frame& f, Record& r, Instant now);
  void take_atomic_ack(const Frame& f, Record& r, Instant now);
  void check_msn(const Frame& f, Seq p, int64_t at_least, Instant now);
  void update_credits(const Frame& f);
  void lost_response(Instant now);
  bool acknowledge(Seq through, Instant now);
  void advance(Seq to, Instant now);
  void progress(Instant now);
  void retry(Instant now);
  bool waits_for_receiver() const { return !rnr_until_.is_never(); }
  void go_back();
  void run_timers(Instant now);
  void restart_timer(Instant now);
  bool inside_unanswered_read(Seq p) const;
  size_t record_of(Seq seq) const;
  int64_t messages_through(Seq p) const;
  bool credit_limited(size_t record) const;
  bool credits_allow() const;
  int64_t window() const;
  void remember(Record& r, size_t index);
  void describe(const Record& r, Seq seq, RequestInfo& out) const;
  bool wants_ack(const Record& r, Seq next) const;

  QpIdentity id_;
  RequesterConfig config_;
  ShadowMemory shadow_;
  std::vector<Record> records_;
  std::vector<uint8_t> scratch_;  // payload of the packet being built
  Seq post_seq_, una_, send_seq_, max_sent_;
  size_t una_wr_ = 0, send_wr_ = 0;
  int outstanding_reads_ = 0;
  int64_t since_ack_req_ = 0;
  int retries_left_, rnr_left_;
  int timeouts_in_row_ = 0;
  bool retry_started_ = false;  // one go-back per loss: NAKs repeat what the first one said
  Instant timer_ = Instant::never();
  Instant rnr_until_ = Instant::never();  // waits for the receiver; never(): does not wait
  Seq rnr_seq_ = 0;
  int64_t limit_ = 0;  // LSN: messages that the responder has receive work requests for
  int64_t credit_msn_ = 0;
  bool credits_off_ = false;  // the responder said 31
  Seq probe_seq_ = -1;        // the one packet of a credit-limited message that may be out
  size_t probe_wr_ = 0;
  Seq ack_req_seq_ = -1;  // newest packet sent with AckReq since the last go-back
  Seq msn_seen_at_;
  int64_t msn_seen_ = 0;
  WcStatus failure_ = WcStatus::kPending;
  RequesterStats stats_;
  ViolationLog violations_;
};

}  // namespace matchrdma::model
