#pragma once
// State of one flow at its destination: what came over the span, what the receiver was given, what it
// acknowledged. Knows nothing of the sender but what packets and messages tell. PSN bounds are exclusive ends.
#include <cstdint>

#include "dataplane/base/pooled_ring.h"
#include "dataplane/base/prefetch.h"
#include "dataplane/base/token_bucket.h"
#include "dataplane/destination/beyond.h"
#include "dataplane/flow/ack_template.h"
#include "dataplane/flow/flow_key.h"
#include "dataplane/flow/message.h"
#include "dataplane/flow/outbox.h"
#include "dataplane/flow/seq_find.h"

namespace matchrdma {

enum class DestState : uint8_t {
  kIdle,      ///< not opened: forward
  kOpened,    ///< FLOW_OPEN answered, base unknown: forward
  kTracking,  ///< base known, barrier not lifted: settle and forward, neither hold nor deduplicate
  kActive,    ///< lifted: hold, deduplicate, absorb the receiver's ACKs
  kClosing,   ///< old generation: drop requests until the marker came
  kPoisoned,
};

/// One request packet kept until the receiver acknowledged it.
struct Held {
  static constexpr uint8_t kReadClass = 1, kAckReq = 2, kAnswered = 4, kDelivered = 8, kEnds = 16;
  PacketRef packet;
  Seq psn = 0;
  uint32_t psns = 1;
  uint8_t flags = 0;
  Instant asked = Instant::never();  ///< delivered once, asking for an ACK
  Seq end() const { return psn + psns; }
  bool has(uint8_t f) const { return (flags & f) != 0; }
};

/// A READ-class request given to the receiver.
struct Answering {
  Seq begin = 0, end = 0, next_response = 0;
};

struct EgressGroup;

/// All that an in-order request of a plain flow reads and writes (destination/plain.h): two cache lines.
struct alignas(64) PlainDelivery {
  explicit PlainDelivery(ChunkPool<Held>& p) : ring(p) {}

  PooledRing<Held> ring;  ///< [acked_end, expected) by packet
  Seq expected = 0;       ///< everything below came over the span
  Seq delivered_end = 0;  ///< highest PSN given to the receiver + 1
  uint64_t deliver_index = 0;
  uint64_t held_bytes = 0;  ///< in `ring`
  Instant last_delivery;
  Instant last_request_out = Instant{-1'000'000'000'000};
  EgressGroup* group = nullptr;
  uint32_t since_ack_req = 0;
  bool plain = false;         ///< packets may go the plain way until something happens to the flow
  bool report_dirty = false;  ///< something was not told to the source yet
};
static_assert(sizeof(PlainDelivery) == 128);

struct DestinationFlow : PlainDelivery {
  struct Pools {
    ChunkPool<Held> held;
    ChunkPool<Answering> answering;
    NodePool nodes;
  };
  explicit DestinationFlow(Pools& p) : PlainDelivery(p.held), beyond(&p.nodes), answering(p.answering) {}

  // What an ACK of the receiver, a report and the timers of a plain flow need.
  DestState state = DestState::kIdle;
  bool queued = false;
  bool in_turn = false;
  bool report_now = false;
  bool prompt = false;           ///< its sender waits for the receiver: progress is told at once
  bool heard = false;            ///< anything came from the receiver since base
  bool reopened = false;         ///< a life of this proxy before delivered more than this one knows of
  bool inferred = false;         ///< by correlation: it may be wrong
  bool short_of_memory = false;  ///< packets were dropped for it, and what is held has not gone since
  uint8_t credits = 31;
  uint32_t index = 0;
  Seq acked_end = 0;  ///< the receiver acknowledged everything below
  Seq base = 0;
  Instant rnr_until = Instant::never();
  Seq rnr_psn = -1;
  Instant last_progress;
  Instant fault_retry_at = Instant::never();  ///< FLOW_FAULT is repeated until answered
  int64_t msn_real = -1;
  Seq probed = -1;
  uint32_t probes = 0;
  uint32_t reacks_due = 0;               ///< forwarded duplicates whose re-ACK may pass
  Instant asked_at{-1'000'000'000'000};  ///< the newest packet that asked for an ACK left
  // Reports to the source.
  FlowId id;
  Seq reported_end = 0;                   ///< acked_end, as told last
  Instant news_since = Instant::never();  ///< what was not told yet
  Instant last_report = Instant{-1'000'000'000'000};
  uint64_t report_seq = 0;
  Seq report_from = 0;         ///< where the next report goes on, where one does not hold all holes
  uint64_t report_news = 0;    ///< newest report that said something new
  uint64_t report_echoed = 0;  ///< newest report the source has seen
  uint64_t mark_seen = 0;
  Seq marked_end = 0;       ///< highest PSN that the source says it has sent + 1
  uint64_t form_since = 0;  ///< first report that told `form`
  Instant request_seen{-1'000'000'000'000}, answer_seen{-1'000'000'000'000};  ///< C10
  Beyond beyond;
  PooledRing<Answering> answering;
  AckTemplate form;  ///< how the receiver's ACKs look

  uint32_t path_mtu = 0;
  uint32_t strange_acks = 0;  ///< in a row, above everything delivered
  Cause redeliver_cause = Cause::kReceiverNak;
  Instant last_response_out = Instant{-1'000'000'000'000};  ///< READ responses of the reverse flow, same sender
  uint8_t fault_syndrome = 0;
  bool gave_up = false;  ///< poisoned by silence: the source decides whether the QP has failed

  // Closing.
  bool closing_passes = false;  ///< of the same life: what still comes is forwarded
  bool marker_seen = false;
  Instant marker_at;
  FlowId early_marker;

  DestinationFlow* next_in_group = nullptr;
  int64_t deficit = 0;

  FlowKey key;
  Qpn sender_qpn;

  bool tracking() const { return state == DestState::kTracking || state == DestState::kActive; }
  /// Index of the held packet that covers `s`; ring.end() if none.
  uint64_t find(Seq s) const { return find_covering(ring, s); }
};

/// Where its state begins, for packets in order; all of it that is not rare, for what tells about them.
inline void prefetch_plain(const DestinationFlow& f) { prefetch_lines(&f, 4); }
inline void prefetch_whole(const DestinationFlow& f) { prefetch_lines(&f, 9); }

}  // namespace matchrdma
