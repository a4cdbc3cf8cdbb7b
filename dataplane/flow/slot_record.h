#pragma once
// What the workers saw of one budget group in one slot (ESTIMATOR, Input).
#include <cstdint>

#include "dataplane/base/time.h"
#include "dataplane/flow/flow_key.h"

namespace matchrdma {

/// ACK return times of packets that asked for an ACK, from leaving on the LAN to the ACK that covers them
/// (PROTOCOL 7).
struct AckDelays {
  uint64_t count = 0;
  uint64_t sum_ns = 0;
  uint64_t min_ns = 0;  ///< meaningless where count is 0, as are the next ones
  uint64_t max_ns = 0;
  uint64_t last_ns = 0;
  Instant last_at{};  ///< when the last one came: tells which of two workers' is the last

  void add(Duration delay, Instant at);
  void merge(const AckDelays& o);
  bool operator==(const AckDelays&) const = default;
};

/// Sums saturate instead of wrapping: a worker that counts nonsense can be wrong, not absurd.
struct SlotRecord {
  uint64_t arrived_bytes = 0;  ///< from the span
  uint64_t acked_bytes = 0;    ///< acknowledged by the receiver
  uint64_t egress_bytes = 0;   ///< sent to the receiver
  uint64_t backlog_bytes = 0;  ///< own queue when the slot ended
  uint64_t packets = 0;        ///< acknowledged
  uint64_t cnp_count = 0;      ///< from the receiver
  AckDelays ack_delay{};
  /// Time that it took the receiver to acknowledge acked_bytes, from ACK to ACK: it may have begun slots ago.
  /// 0: not known.
  uint64_t acked_ns = 0;
  /// Part of that time in which ACKs were late (SlotMeter), and of those bytes.
  uint64_t busy_ns = 0;
  uint64_t busy_acked_bytes = 0;
  /// Time in which our own queue waited for the rate that the receiver is known to take at most, and what was
  /// sent to it meanwhile.
  uint64_t held_ns = 0;
  uint64_t held_bytes = 0;
  uint64_t unacked_bytes = 0;  ///< sent and not acknowledged when the slot ended
  /// Time that the sums are of: a worker that was held up counts in one slot what came in several. 0: the slot.
  uint64_t covered_ns = 0;

  /// Adds what another worker saw in the same slot. Associative and commutative. Workers are busy at the same
  /// time (it is one receiver that is slow), so bytes add up and time does not.
  void merge(const SlotRecord& o);
  /// What came after `before`, a copy of this record made earlier in the same slot.
  SlotRecord since(const SlotRecord& before) const;
  /// The same as if it were of `slot` only, where it covers more: sums become shares.
  SlotRecord per(Duration slot) const;
  /// Nothing came, left or waits.
  bool empty() const;
  bool operator==(const SlotRecord&) const = default;
};

/// The record of one receiver, of a slot that has ended or of a part of the one that has not. Slots are
/// numbered from time 0, so that all who share a clock number them alike.
struct GroupSlot {
  GroupKey group;
  int64_t slot = 0;
  bool more = false;  ///< another one follows when the next slot has ended, or later if the worker is held up
  SlotRecord record;
};

}  // namespace matchrdma
