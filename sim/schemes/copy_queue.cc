#include "sim/schemes/copy_queue.h"

namespace matchrdma::sim {

CopyQueue::Arrival CopyQueue::arrive(const SimPacket& p, SimTime now) {
  if (p.seq > expected_) return Arrival::kGap;
  if (p.seq < expected_) {
    if (p.seq < una_ || entry(p.seq).copied) return Arrival::kAgain;
    entry(p.seq).sent = now;
    return Arrival::kPass;
  }
  const bool waits = cursor_ < expected_;
  const bool copied = memory_.take(p.size);
  if (waits && !copied) return Arrival::kRefuse;
  entries_.push_back({p.size, p.payload, p.message, p.starts_message, p.ends_message, p.ce, copied, now});
  ++expected_;
  advance_owned();
  if (waits) return Arrival::kWait;
  cursor_ = expected_;
  return Arrival::kPass;
}

bool CopyQueue::release(int64_t psn) {
  if (psn <= una_) return false;
  while (una_ < psn && !entries_.empty()) pop_front();
  // Behind expected_: the sender was asked to go back, and the first copies have come through all the same.
  una_ = psn;
  expected_ = std::max(expected_, una_);
  cursor_ = std::max(cursor_, una_);
  owned_ = std::max(owned_, una_);
  advance_owned();
  return true;
}

bool CopyQueue::ask(int64_t psn, SimTime now) {
  if (psn < una_ || psn >= cursor_ || now - entry(psn).sent < round_trip_) return false;
  cursor_ = psn;
  return true;
}

CopyQueue::Next CopyQueue::next(SimPacket& p, SimTime now) {
  if (cursor_ == expected_) return Next::kNothing;
  Entry& e = entry(cursor_);
  if (!e.copied) {
    truncate(owned_);
    return Next::kAskSender;
  }
  p.seq = cursor_++;
  p.size = e.size;
  p.payload = e.payload;
  p.message = e.message;
  p.starts_message = e.starts;
  p.ends_message = e.ends;
  p.ce = e.ce;
  e.sent = now;
  return Next::kCopy;
}

void CopyQueue::pop_front() {
  if (entries_.front().copied) memory_.give(entries_.front().size);
  entries_.pop_front();
  ++una_;
}

void CopyQueue::truncate(int64_t psn) {
  for (; expected_ > psn; --expected_) {
    if (entries_.back().copied) memory_.give(entries_.back().size);
    entries_.pop_back();
  }
  cursor_ = expected_;
}

void CopyQueue::advance_owned() {
  while (owned_ < expected_ && entry(owned_).copied) ++owned_;
}

}  // namespace matchrdma::sim
