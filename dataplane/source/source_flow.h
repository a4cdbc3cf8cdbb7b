#pragma once
// State of one flow at its source: what is owned, what was promised to the sender, what the far side confirmed.
// Knows nothing of the receiver's proxy beyond its messages. All PSN bounds are exclusive ends ("..._end").
#include <algorithm>
#include <array>
#include <cstdint>

#include "dataplane/base/pooled_ring.h"
#include "dataplane/base/prefetch.h"
#include "dataplane/base/seq_map.h"
#include "dataplane/base/time.h"
#include "dataplane/base/token_bucket.h"
#include "dataplane/flow/ack_template.h"
#include "dataplane/flow/flow_key.h"
#include "dataplane/flow/flow_state.h"
#include "dataplane/flow/message.h"
#include "dataplane/flow/outbox.h"
#include "dataplane/flow/seq_find.h"
#include "dataplane/wire/ack_frame.h"
#include "dataplane/wire/icrc.h"

namespace matchrdma {

/// One owned request packet: one cache line.
struct alignas(64) Owned {
  static constexpr uint8_t kEnds = 1, kAckReq = 2, kReadClass = 4, kSmall = 8, kSent = 16, kResend = 32;
  PacketRef packet;
  Seq psn = 0;
  Instant accepted, sent;
  uint32_t psns = 1;          ///< READ occupies one per response packet (C13)
  uint32_t messages_end = 0;  ///< messages since base that are complete when this packet is
  uint32_t header_hash = 0;
  PayloadPrint payload;
  uint8_t flags = 0;
  Seq end() const { return psn + psns; }
  bool has(uint8_t f) const { return (flags & f) != 0; }
};
static_assert(sizeof(Owned) == 64);

/// What is remembered of a confirmed packet (C4).
struct Confirmed {
  Seq psn = 0;
  uint32_t header_hash = 0;
  PayloadPrint payload;
};

/// A READ-class request: outstanding while next_response < end, remembered after.
struct ReadRange {
  Seq begin = 0, end = 0, next_response = 0;
  uint64_t va = 0;
  uint32_t rkey = 0, length = 0, header_hash = 0;
  uint8_t opcode = 0;
  bool retried = false;  ///< its responses carry an MSN that may count later messages
  bool complete() const { return next_response >= end; }
};

/// Passes the gate without being owned: READ retries, forwarded duplicates.
struct Passing {
  PacketRef packet;
  uint64_t behind = 0;  ///< goes once every owned packet below this index was admitted
  Cause cause = Cause::kReadRetry;
};

/// PSNs are unwrapped to start well above zero, so that anything a sender may still hold stays positive. One
/// start for what was seen before base and for a base that registration names.
inline constexpr Seq kFirstEpoch = Seq{1} << 32;

/// A sender that was silent for so long and sends again has timed out or begins anew.
inline constexpr Duration kRetransmissionPause = Duration::millis(1);

struct BudgetGroup;

/// All that an in-order request of a plain flow reads and writes (source/plain.h): two cache lines.
struct alignas(64) PlainState {
  explicit PlainState(ChunkPool<Owned>& p) : window(p) {}

  PooledRing<Owned> window;
  Seq epsn = 0;  ///< next PSN to accept
  // What plain packets did: everything below `plain_end` was accepted and put on the span, the newest at
  // `plain_at`, and none of the window below `plain_index` waits for the gate.
  Seq plain_end = 0;
  uint64_t plain_index = 0;
  Instant plain_at{-1'000'000'000'000};
  BudgetGroup* group = nullptr;
  uint64_t owned_bytes = 0;
  uint32_t messages = 0;    ///< complete ones accepted since base
  uint32_t plain_left = 0;  ///< so many packets may go the plain way before the flow is looked at again
  uint32_t since_ack = 0;
  uint16_t port = 0;           ///< UDP source port of its requests when it was inferred
  bool message_small = false;  ///< the message being accepted counts as small at the gate
  uint8_t ect = 2;
};
static_assert(sizeof(PlainState) == 128);

/// What all other packets did; with PlainState it says where the flow stands. Changed by SourceFlow alone.
class Bounds {
 protected:
  Seq seen_end_ = 0, released_end_ = 0, sent_end_ = 0;
  uint64_t admit_index_ = 0;
  Instant last_send_, last_request_{-1'000'000'000'000};
};

struct SourceFlow : PlainState, Bounds {
  struct Pools {
    ChunkPool<Owned> owned;
    ChunkPool<Confirmed> confirmed;
    ChunkPool<ReadRange> reads;
    ChunkPool<Passing> passing;
    NodePool nodes;
  };
  explicit SourceFlow(Pools& p)
      : PlainState(p.owned), confirmed(p.confirmed), reads(p.reads), passing(p.passing), gap(&p.nodes) {}

  // Acknowledging and repair: what an ACK and the timers of a plain flow need.
  Seq confirmed_end = 0;
  Seq acked_end = 0;  ///< told to the sender
  Seq ack_wanted_end = 0;
  Instant ack_asked;  ///< when the oldest request whose ACK is due was accepted
  Seq base = 0;
  int64_t msn_at_base = 0;  ///< messages the receiver had completed at base; exact once the barrier is lifted
  Instant last_mark;
  Instant unmarked_since;  ///< when the oldest packet behind the last mark was sent
  Instant rto_at = Instant::never();
  Instant retry_at = Instant::never();  ///< of its handshake
  Seq journaled_end = -1;  ///< acked_end of the journal's record; -1: it says that nothing is promised
  uint32_t messages_confirmed = 0;
  uint32_t resend_pending = 0;
  FlowState state = FlowState::kPaired;
  Completion completion = Completion::kTransparent;
  bool ack_again = false;  ///< repeat ACK(ceiling) though nothing rose: an absorbed duplicate asked
  bool draining = false;   ///< no new custody; becomes transparent once all is confirmed (C14)

  // What a report about the flow and the look at the end of a run need besides.
  enum class GapNak : uint8_t {
    kNone,
    kDue,       ///< the wait is over, a fence withholds it
    kSent,      ///< every packet beyond epsn shows the same gap
    kAnswered,  ///< the sender has gone back since; the next packet beyond epsn shows another gap
  };
  enum class Queue : uint8_t { kNone, kUrgent, kSmall, kBulk };
  FlowId id;
  uint32_t index = 0;  ///< in the shard's flow table
  uint32_t path_mtu = 0;
  uint64_t gate_bytes = 0;
  uint64_t ack_echo = 0;
  Seq far_received_end = 0;
  Seq repair_cursor = 0;  ///< PSN in a hole where the next report goes on
  uint64_t resend_scan = 0;
  uint64_t mark_seq = 0;
  int64_t msn_real = -1;
  Seq jumped_to = -1;    ///< start of a retransmission above epsn: does the QP live anew? (C4)
  Seq chosen_drop = -1;  ///< first PSN we dropped ourselves: silence until the sender returns (H5)
  Instant gap_since = Instant::never();
  uint32_t rto_backoff = 0;
  uint32_t given_count = 0;
  uint8_t credit_code = 31;
  GapNak gap_nak = GapNak::kNone;
  bool dropped_for_peer = false;  ///< chosen_drop, because the peer was not there
  Queue queued = Queue::kNone;
  bool in_turn = false;   ///< the budget closed in the middle of its turn
  bool seen = false;      ///< any request came from the LAN
  bool inferred = false;  ///< by correlation: it may be wrong
  bool credits_used = false;
  bool lifted_answered = false;
  int64_t deficit = 0;
  PooledRing<Confirmed> confirmed;
  AckFrame ack_frame;  ///< once something told how the receiver's ACKs look
  struct GivenAck {
    Seq end = 0;
    Instant at;
  };
  std::array<GivenAck, 8> given{};  ///< the last 8 (new generation rule of C4)
  PooledRing<ReadRange> reads;
  PooledRing<Passing> passing;
  SeqMap<PacketRef> gap;  ///< behind a LAN gap (PROTOCOL 4, psn > epsn)

  // Identity.
  FlowKey key;
  Qpn sender_qpn;
  bool activated = false;  ///< it was active at some time
  bool vouched = false;    ///< CM or a registration named the pair
  bool has_start = false;
  uint32_t strange_acks = 0;  ///< in a row, above everything the sender sent
  Instant open_after{-1};     ///< the far side did not see it on its path yet (C10)
  Psn start;
  int64_t start_msn = 0;

  // Acknowledging.
  AckTemplate ack_form;
  uint64_t fence_index = 0;  ///< end-to-end: no message of the window ends below this index

  Instant idle_since;            ///< newest step of its handshake: from there on it may be idle
  Seq went_back_to = -1;         ///< where the last retransmission after a pause started
  uint32_t went_back_times = 0;  ///< in a row
  uint32_t jumps = 0;            ///< retransmissions in a row that started at jumped_to
  bool gap_nak_sent() const { return gap_nak == GapNak::kSent || gap_nak == GapNak::kAnswered; }

  // Handshakes.
  uint32_t retry_count = 0;
  Seq lifted_end = 0;
  bool drained = false;  ///< the close under way ends in transparent
  bool by_order =
      false;  ///< an operator's drain made it transparent: what is taken back lets it be opened again
  bool close_whole_qp = false;
  bool closing_keeps = false;  ///< a new generation waits for the end of the old one: its packets are kept
  Seq real_ack_end = -1;       ///< newest real ACK seen before base was picked
  int64_t real_ack_msn = -1;
  bool base_fresh = false;
  Seq reopen_base = -1;  ///< reopening: base of the new life at the far side; -1 until it was opened
  Instant reopen_until = Instant::never();  ///< what it owns then is given up
  Seq no_base_below = 0;  ///< after a NAK below base: base only above the sender's old highest PSN

  // Faults.
  uint8_t fault_syndrome = 0;
  int64_t fault_msn = 0;
  Seq fault_psn = 0, fault_last_seen = 0;
  // Oldest PSNs that the sender has shown since: in its present round, and in all whole rounds since fault_psn
  // rose.
  Seq fault_round_oldest = INT64_MAX, fault_oldest = INT64_MAX;
  uint32_t fault_rounds = 0;
  bool fault_told = false;
  Instant doubt_ends = Instant::never();
  Instant moved_on{-1'000'000'000'000};  ///< doubted: newest request beyond everything we acknowledged

  // CNP.
  Instant last_cnp = Instant{-1'000'000'000'000};

  // Gate lists (intrusive).
  SourceFlow* gate_next = nullptr;
  uint32_t weight = 1;  ///< of its quantum

  void set_ack_form(const AckTemplate& t) {
    if (ack_form == t) return;
    ack_form = t;
    ack_frame.prepare(t.net, sender_qpn, t.pkey, t.mig_req);
  }
  /// Highest PSN seen from the LAN + 1, any state.
  Seq seen_end() const { return std::max(seen_end_, plain_end); }
  /// Everything below was admitted by the gate, or waited hold_max.
  Seq released_end() const { return std::max(released_end_, plain_end); }
  /// Highest PSN put on the span + 1.
  Seq sent_end() const { return std::max(sent_end_, plain_end); }
  /// In the window: everything below was admitted by the gate.
  uint64_t admit_index() const { return std::max(admit_index_, plain_index); }
  Instant last_send() const { return later(last_send_, plain_at); }
  /// Newest request from the LAN that was accepted or kept.
  Instant last_request() const { return later(last_request_, plain_at); }
  void set_seen_end(Seq s) { seen_end_ = s; }
  void set_last_request(Instant at) { last_request_ = at; }
  void note_sent(Seq end, Instant now) {
    if (last_mark >= last_send()) unmarked_since = now;
    sent_end_ = std::max(sent_end_, end);
    last_send_ = now;
  }
  /// A packet that is not owned went the flow's way.
  void note_passed(Instant now) { last_send_ = now; }
  void raise_sent(Seq end) { sent_end_ = std::max(sent_end_, end); }
  void raise_released(Seq end) { released_end_ = std::max(released_end_, end); }
  void set_admit_index(uint64_t i) {
    fold();
    admit_index_ = i;
  }
  /// The window's end is given up again: nothing at or above `end` is released.
  void lower_released(Seq end) {
    fold();
    released_end_ = std::min(released_end_, end);
  }
  /// A new life: all bounds stand at `at`.
  void restart_at(Seq at) {
    fold();
    epsn = base = confirmed_end = acked_end = released_end_ = sent_end_ = at;
  }

  bool owns() const { return !window.empty(); }
  bool tracked() const {
    return state == FlowState::kBarrier || state == FlowState::kActive || state == FlowState::kBasing ||
           state == FlowState::kReopening;
  }
  void fire(FlowEvent e) {
    plain_left = 0;
    state = next_state(state, e);
    activated = activated || state == FlowState::kActive;
  }
  /// Index of the owned packet that covers `s`; window.end() if none.
  uint64_t find(Seq s) const { return find_covering(window, s); }

 private:
  // From here on the bounds may be lowered: what plain packets did stands in them.
  void fold() {
    seen_end_ = seen_end();
    released_end_ = released_end();
    sent_end_ = sent_end();
    admit_index_ = admit_index();
    plain_end = 0;
    plain_index = 0;
    plain_left = 0;
  }
};

/// Where its state begins, for packets in order; all of it that is not rare, for what tells about them; what an
/// ACK is made of.
inline void prefetch_plain(const SourceFlow& f) { prefetch_lines(&f, 4); }
inline void prefetch_whole(const SourceFlow& f) { prefetch_lines(&f, 7); }
inline void prefetch_acks(const SourceFlow& f) { prefetch_lines(&f.ack_frame, 4); }

}  // namespace matchrdma
