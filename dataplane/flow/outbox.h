#pragma once
// Everything the core wants done, in order. Owned by the caller, of a fixed size that only messages may exceed;
// the core never calls back.
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "dataplane/base/packet.h"
#include "dataplane/base/types.h"
#include "dataplane/flow/journal.h"
#include "dataplane/flow/message.h"

namespace matchrdma {

/// Why a packet leaves: named for reports, traces and the copies of `delivery.copies`.
#define MATCHRDMA_CAUSES(X)                                                                  \
  X(kForward, "forward") /* untouched, not ours or transparent */                            \
  X(kFirst, "first")     /* first copy of an owned request */                                \
  X(kBelowBase, "below_base")                                                                \
  X(kBarrier, "barrier")                                                                     \
  X(kDuplicateForwarded, "duplicate_forwarded") /* confirmed, no fingerprint left: C9-105 */ \
  X(kReadRetry, "read_retry")                                                                \
  X(kCustodyResend, "custody_resend") /* hole on the span */                                 \
  X(kReceiverNak, "receiver_nak")     /* receiver asked again */                             \
  X(kReceiverRnr, "receiver_rnr")                                                            \
  X(kProbe, "probe")          /* local timeout: oldest, AckReq */                            \
  X(kResponse, "response")    /* READ response, atomic ACK, passing */                       \
  X(kPassedAck, "passed_ack") /* the receiver's own ACK or NAK, passing */                   \
  X(kPseudoAck, "pseudo_ack")                                                                \
  X(kPseudoNak, "pseudo_nak")                                                                \
  X(kFaultNak, "fault_nak")                                                                  \
  X(kCnp, "cnp")                                                                             \
  X(kPause, "pause") /* PFC towards the LAN */

enum class Cause : uint8_t {
#define MATCHRDMA_X(id, key) id,
  MATCHRDMA_CAUSES(MATCHRDMA_X)
#undef MATCHRDMA_X
      kCount
};
const char* cause_key(Cause c);

struct OutItem {
  Side side = Side::kLan;  ///< packets only; messages go to the peer
  Cause cause = Cause::kForward;
  /// Queue above bulk: control, and what speaks of nothing that came before. An ACK that overtakes the READ
  /// response before it would acknowledge the response, and the host would ask for it again (C3).
  bool priority = false;
  PacketRef packet;            ///< empty: `message` is meant
  Message* message = nullptr;  ///< kept by the outbox until clear(): large and rare, so apart
};

class Outbox {
 public:
  /// Worst case of one run: kPerInput items for every packet and message given, plus kReserve for timers.
  static constexpr size_t kPerInput = 8, kReserve = 256;
  explicit Outbox(size_t inputs = 64) : capacity_(inputs * kPerInput + 4 * kReserve) {
    items_.reserve(capacity_);
    messages_.reserve(capacity_);  // never grows: items point into it
    journal_.reserve(capacity_);
  }

  void packet(Side side, Cause cause, PacketRef p) {
    MRDMA_CHECK(++packets_ <= capacity_);
    items_.push_back({side, cause, cause >= Cause::kCnp, std::move(p)});
  }
  template <typename M>
  void message(const M& m) {
    send(place(std::in_place_type<M>, m));
  }
  void message(const Message& m) { send(place(m)); }
  /// A large one, to be filled in place before anything else goes into the outbox.
  template <typename M>
  M& message() {
    Message& m = place(std::in_place_type<M>);
    send(m);
    return std::get<M>(m);
  }
  /// To be written before any item leaves: what it tells must not be promised before it is kept. Grows only
  /// when all flows end at once.
  void journal(const JournalRecord& r) { journal_.push_back(r); }
  std::span<const JournalRecord> journal() const { return journal_; }
  /// Scheduled work (gate, delivery, timers) stops when this is false and goes on in the next run.
  bool has_room() const { return items_.size() + kReserve < capacity_; }
  std::span<OutItem> items() { return items_; }
  void clear() {
    items_.clear();
    messages_.clear();
    crowd_.clear();
    journal_.clear();
    packets_ = 0;
  }

 private:
  // Where every flow has something to say at once (the peer is lost, or has started anew), there is no bound
  // but that of the flows: what does not fit goes to a list that keeps its addresses too.
  template <typename... A>
  Message& place(A&&... a) {
    return messages_.size() < capacity_ ? messages_.emplace_back(std::forward<A>(a)...)
                                        : crowd_.emplace_back(std::forward<A>(a)...);
  }
  void send(Message& m) { items_.push_back({Side::kWan, Cause::kForward, !in_data_queue(m), {}, &m}); }

  size_t capacity_;
  size_t packets_ = 0;
  std::vector<OutItem> items_;
  std::vector<Message> messages_;
  std::deque<Message> crowd_;
  std::vector<JournalRecord> journal_;
};

}  // namespace matchrdma
