#pragma once
// What one receiver does, slot by slot (ESTIMATOR, Input).
#include <cstdint>

#include "dataplane/base/time.h"
#include "dataplane/base/types.h"
#include "dataplane/flow/slot_record.h"

namespace matchrdma {

/// Duty: the record of the slot of now. Does not know when a slot ends, nor which flow a byte belongs to.
///
/// A receiver acknowledges whole messages, perhaps less than one in a slot. So bytes and the time they took are
/// both counted from ACK to ACK, and stand in the slot of the later one: their ratio is a rate, however long
/// that was.
///
/// A receiver is the bottleneck while our own queue is held back by what it is known to take at most: then what
/// it is sent is what it takes. And it is while its ACKs are late: then what it acknowledges is. Late means
/// both by a share of the least delay and by so much that at the rate of its ACKs a queue stands: an ACK of an
/// idle NIC comes some microseconds earlier or later, and taking that for a queue would call every slow
/// sender's rate the capacity.
class SlotMeter {
 public:
  /// busy_bytes: a queue in the receiver's network of which it is busy.
  explicit SlotMeter(uint64_t busy_bytes) : busy_bytes_(busy_bytes) {}

  void arrived(uint32_t bytes) { record_.arrived_bytes += bytes; }
  void sent(uint32_t bytes, Instant now);
  void cnp() { ++record_.cnp_count; }
  /// Something comes for a receiver that nothing waited for and that owed no ACK.
  void begins(Instant now);
  /// The receiver has acknowledged so much; nothing_more: it owes no ACK now.
  void acked(uint64_t bytes, uint64_t packets, bool nothing_more, Instant now);
  /// Bytes that nobody acknowledges here: they count as taken.
  void passed(uint32_t bytes);
  /// An ACK came so long after the packet that asked for it.
  void delay(Duration d, Instant now);
  /// Our own queue waits for what the receiver can take.
  void held_back(bool on, Instant now);

  /// The slot ends; the next one begins. own_queue: bytes that wait here; unacked: sent,
  /// and not acknowledged.
  SlotRecord close(uint64_t own_queue, uint64_t unacked, Instant end);
  /// The slot goes on: what was seen since the last look, or since it began.
  SlotRecord look(uint64_t own_queue, uint64_t unacked, Instant now);
  /// Something since the last look says that more was sent than the receiver takes: it marked, or is late.
  bool strained() const { return late_ || record_.cnp_count > looked_.cnp_count; }
  /// Counting begins at `now` after a time in which nothing was.
  void begin(Instant now);
  /// What the estimator holds for the least delay; the meter goes on from there.
  void set_least_delay(Duration d) { least_ns_ = d.ns; }

  /// Bytes in the receiver's network, by the newest ACK's delay.
  uint64_t network_queue() const;
  /// Of the last 50 us or a little more.
  Rate acked_rate(Instant now) const;

 private:
  void pass(Instant now);

  uint64_t busy_bytes_;
  SlotRecord record_, looked_;
  Instant begin_, at_, looked_at_;
  bool late_ = false, held_back_ = false;
  Instant acked_at_;  ///< the ACK before, or what began after it
  int64_t busy_since_ack_ns_ = 0;
  int64_t last_busy_ns_ = 0, last_took_ns_ = 1;  ///< of the interval before
  int64_t least_ns_ = 0;                         ///< 0: not known
  int64_t excess_ns_ = 0;                        ///< of the newest ACK
  uint64_t last_acked_ = 0;                      ///< in the slot before
  int64_t last_covered_ns_ = 1;
  // Two windows of 50 us.
  Instant window_;
  uint64_t window_bytes_ = 0, window_before_ = 0;
};

}  // namespace matchrdma
