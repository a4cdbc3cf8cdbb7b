// What the requester does with ACKs, NAKs and responses (IBA 9.7.5, 9.9.2).
#include <algorithm>

#include "model/aeth.h"
#include "model/rc_requester.h"

namespace matchrdma::model {

void RcRequester::on_response(const Frame& f, Instant now) {
  if (failed()) return;
  const Seq p = unwrap24(f.psn().v, una_);
  if (f.info().aeth && (f.aeth_syndrome() & 0x60) == kAethAck) update_credits(f);
  if (f.opcode() != op::kRcAck) {
    on_data(f, p, now);
    return;
  }
  const uint8_t syndrome = f.aeth_syndrome();
  const bool ack = (syndrome & 0x60) == kAethAck;
  if (p >= max_sent_) {
    violations_.add(ack ? ViolationKind::kAckNeverSent : ViolationKind::kNakNeverSent, p, now);
    return;
  }
  if (p < una_) {  // told before, or about a packet of an earlier round
    ++stats_.stale;
    return;
  }
  check_msn(f, p, messages_through(ack ? p : p - 1), now);
  if (ack)
    on_ack(p, now);
  else if ((syndrome & 0x60) == kAethRnr)
    on_rnr_nak(p, syndrome & 31, now);
  else if (syndrome == kNakSequence)
    on_sequence_nak(p, now);
  else
    on_fatal_nak(p, syndrome, now);
}

void RcRequester::on_ack(Seq p, Instant now) {
  ++stats_.acks;
  const Record& r = records_[record_of(p)];
  if (is_read_class(r.wr.type) && p < r.last()) violations_.add(ViolationKind::kAckInsideRead, p, now);
  if (!acknowledge(p, now)) lost_response(now);
}

/// C2: a sequence NAK acknowledges everything before its PSN, then everything from it goes out again.
void RcRequester::on_sequence_nak(Seq p, Instant now) {
  ++stats_.sequence_naks;
  if (inside_unanswered_read(p)) violations_.add(ViolationKind::kNakInsideRead, p, now);
  if (!acknowledge(p - 1, now)) {
    lost_response(now);
    return;
  }
  if (!waits_for_receiver() && !retry_started_) retry(now);
}

void RcRequester::on_rnr_nak(Seq p, uint8_t timer, Instant now) {
  ++stats_.rnr_naks;
  if (inside_unanswered_read(p)) violations_.add(ViolationKind::kNakInsideRead, p, now);
  if (!acknowledge(p - 1, now)) {
    lost_response(now);
    return;
  }
  if (waits_for_receiver()) return;
  if (config_.rnr_retry != 7) {
    if (rnr_left_ == 0) {
      fail(WcStatus::kRnrRetryExceeded, now);
      return;
    }
    --rnr_left_;
  }
  rnr_until_ = now + decode_rnr_timer(timer);
  rnr_seq_ = p;
  timer_ = Instant::never();
}

void RcRequester::on_fatal_nak(Seq p, uint8_t syndrome, Instant now) {
  acknowledge(p - 1, now);
  switch (syndrome) {
    case kNakInvalidRequest:
      fail(WcStatus::kRemoteInvalidRequest, now);
      break;
    case kNakRemoteAccess:
      fail(WcStatus::kRemoteAccess, now);
      break;
    case kNakRemoteOperation:
      fail(WcStatus::kRemoteOperation, now);
      break;
    default:
      violations_.add(ViolationKind::kReservedSyndrome, p, now);
  }
}

/// READ response or atomic ACK. It acknowledges every request before its own.
void RcRequester::on_data(const Frame& f, Seq p, Instant now) {
  if (p < una_) {
    ++stats_.stale;
    return;
  }
  if (p >= max_sent_) {
    violations_.add(ViolationKind::kResponseNeverAsked, p, now);
    return;
  }
  const size_t index = record_of(p);
  const bool atomic = f.opcode() == op::kRcAtomicAck;
  Record& r = records_[index];
  if (!is_read_class(r.wr.type) || is_atomic(r.wr.type) != atomic) {
    violations_.add(ViolationKind::kResponseNeverAsked, p, now);
    return;
  }
  // The MSN counts a READ from the moment its request is accepted (IBA C9-148), an atomic when it is done.
  check_msn(f, p, static_cast<int64_t>(index) + 1, now);
  if (!acknowledge(r.first - 1, now) || una_ != p) {
    lost_response(now);
    return;
  }
  if (atomic)
    take_atomic_ack(f, r, now);
  else
    take_read_response(f, r, now);
}

void RcRequester::take_read_response(const Frame& f, Record& r, Instant now) {
  const Seq p = una_;
  const uint32_t done = static_cast<uint32_t>(p - r.first) * id_.path_mtu;
  const bool last = p == r.last();
  const bool says_last = f.opcode() == op::kRcReadRespLast || f.opcode() == op::kRcReadRespOnly;
  if (says_last != last) {
    violations_.add(ViolationKind::kResponseOpcode, p, now);
    return;
  }
  if (f.payload_length() != (last ? r.wr.length - done : id_.path_mtu)) {
    violations_.add(ViolationKind::kResponseLength, p, now);
    return;
  }
  if (!shadow_.could_read(r.wr.va + done, f.payload().first(f.payload_length()), static_cast<int64_t>(una_wr_)))
    violations_.add(ViolationKind::kReadData, p, now);
  advance(p + 1, now);
  progress(now);
}

void RcRequester::take_atomic_ack(const Frame& f, Record& r, Instant now) {
  if (load_be64(f.data() + f.ext_offset() + 4) != r.expected_original)
    violations_.add(ViolationKind::kAtomicValue, una_, now);
  advance(una_ + 1, now);
  progress(now);
}

/// C3: an answer past an unanswered READ or atomic tells that its response was lost: ask for the rest again.
void RcRequester::lost_response(Instant now) {
  ++stats_.implied_naks;
  if (!waits_for_receiver() && !retry_started_) retry(now);
}

/// Completes SENDs and WRITEs up to `through`. False when an unanswered READ or atomic stands in the way: only
/// its own response completes it.
bool RcRequester::acknowledge(Seq through, Instant now) {
  const Seq before = una_;
  bool free = true;
  while (una_ <= through) {
    const Record& r = records_[una_wr_];
    if (is_read_class(r.wr.type)) {
      free = false;
      break;
    }
    advance(std::min(through, r.last()) + 1, now);
  }
  if (una_ != before) progress(now);
  return free;
}

void RcRequester::advance(Seq to, Instant now) {
  una_ = to;
  Record& r = records_[una_wr_];
  if (una_ > r.last()) {
    r.status = WcStatus::kSuccess;
    r.completed = now;
    if (r.issued) --outstanding_reads_;
    r.issued = false;
    ++una_wr_;
  }
  if (send_seq_ < una_) {  // acknowledged what was about to be sent again
    send_seq_ = una_;
    send_wr_ = una_wr_;
  }
}

void RcRequester::progress(Instant now) {
  retries_left_ = config_.retry_count;
  rnr_left_ = config_.rnr_retry;
  timeouts_in_row_ = 0;
  retry_started_ = false;
  if (waits_for_receiver()) {
    if (una_ <= rnr_seq_) return;
    rnr_until_ = Instant::never();
  }
  restart_timer(now);
}

bool RcRequester::inside_unanswered_read(Seq p) const {
  const Record& r = records_[record_of(p)];
  return is_read_class(r.wr.type) && p > r.first;
}

/// Messages whose last PSN is <= p.
int64_t RcRequester::messages_through(Seq p) const {
  if (records_.empty() || p < records_.front().first) return 0;
  const size_t i = record_of(p);
  return static_cast<int64_t>(p >= records_[i].last() ? i + 1 : i);
}

/// The MSN counts completed messages (IBA 9.7.5): at least those that this packet acknowledges, at most those
/// sent.
void RcRequester::check_msn(const Frame& f, Seq p, int64_t at_least, Instant now) {
  if (!f.info().aeth) return;
  const int64_t msn = unwrap24(f.aeth_msn().v, at_least);
  if (msn < at_least) violations_.add(ViolationKind::kMsnBehind, p, now);
  if (msn > messages_through(max_sent_ - 1)) violations_.add(ViolationKind::kMsnAhead, p, now);
  if (f.opcode() != op::kRcAck) return;
  // Ordered by what is acknowledged, not by arrival: a NAK that was overtaken may come behind an ACK of its own
  // PSN.
  const Seq through = (f.aeth_syndrome() & 0x60) == kAethAck ? p : p - 1;
  if (through < msn_seen_at_) return;
  if (msn < msn_seen_) violations_.add(ViolationKind::kMsnDecreased, p, now);
  msn_seen_at_ = through;
  msn_seen_ = msn;
}

/// Old ACKs count too: the responder sends them again to tell of new receive work requests (IBA 9.7.7.2).
void RcRequester::update_credits(const Frame& f) {
  const uint8_t code = f.aeth_syndrome() & 31;
  if (code == kCreditsUnlimited) {
    credits_off_ = true;
    return;
  }
  const int64_t msn = unwrap24(f.aeth_msn().v, static_cast<int64_t>(una_wr_));
  limit_ = std::max(limit_, msn + decode_credits(code));
}

}  // namespace matchrdma::model
