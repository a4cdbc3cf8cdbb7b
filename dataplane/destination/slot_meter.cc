#include "dataplane/destination/slot_meter.h"

#include <algorithm>
#include <utility>

namespace matchrdma {
namespace {

constexpr int64_t kWindowNs = 50'000;
constexpr int64_t kMostExcessNs = 10'000'000'000;

}  // namespace

void SlotMeter::pass(Instant now) {
  if (now <= at_) return;
  const int64_t passed = (now - at_).ns;
  if (late_) busy_since_ack_ns_ += passed;
  if (held_back_) record_.held_ns += static_cast<uint64_t>(passed);
  at_ = now;
}

void SlotMeter::sent(uint32_t bytes, Instant now) {
  pass(now);
  record_.egress_bytes += bytes;
  if (held_back_) record_.held_bytes += bytes;
}

void SlotMeter::begins(Instant now) {
  pass(now);
  acked_at_ = now;
  busy_since_ack_ns_ = 0;
  late_ = false;  // what was owed may have been given up without an ACK
}

void SlotMeter::passed(uint32_t bytes) {
  record_.egress_bytes += bytes;
  record_.acked_bytes += bytes;
  ++record_.packets;
}

void SlotMeter::acked(uint64_t bytes, uint64_t packets, bool nothing_more, Instant now) {
  pass(now);
  record_.acked_bytes += bytes;
  record_.packets += packets;
  if (const int64_t took = (now - acked_at_).ns; took > 0) {
    record_.acked_ns += static_cast<uint64_t>(took);
    record_.busy_ns += static_cast<uint64_t>(busy_since_ack_ns_);
    last_took_ns_ = took;
    last_busy_ns_ = std::exchange(busy_since_ack_ns_, 0);
    acked_at_ = now;
  }
  // As if the receiver had taken them evenly. Another ACK at the same time is of the same interval.
  record_.busy_acked_bytes +=
      static_cast<uint64_t>(static_cast<unsigned __int128>(bytes) * static_cast<uint64_t>(last_busy_ns_) /
                            static_cast<uint64_t>(last_took_ns_));
  if (nothing_more) late_ = false;
  const int64_t age = (now - window_).ns;
  if (age >= kWindowNs) {
    window_before_ = age < 2 * kWindowNs ? window_bytes_ : 0;
    window_bytes_ = 0;
    window_ = now;
  }
  window_bytes_ += bytes;
}

void SlotMeter::delay(Duration d, Instant now) {
  pass(now);
  record_.ack_delay.add(d, now);
  if (d.ns <= 0) return;  // no ACK takes no time
  least_ns_ = least_ns_ == 0 ? d.ns : std::min(least_ns_, d.ns);
  excess_ns_ = std::min(d.ns - least_ns_, kMostExcessNs);
  late_ = excess_ns_ * 5 > least_ns_ && network_queue() >= busy_bytes_;
}

void SlotMeter::held_back(bool on, Instant now) {
  if (on == held_back_) return;
  pass(now);
  held_back_ = on;
}

void SlotMeter::begin(Instant now) {
  begin_ = at_ = looked_at_ = now;
  last_acked_ = 0;
}

SlotRecord SlotMeter::close(uint64_t own_queue, uint64_t unacked, Instant end) {
  pass(end);
  record_.backlog_bytes = own_queue;
  record_.unacked_bytes = unacked;
  record_.covered_ns = static_cast<uint64_t>(std::max<int64_t>(1, (end - begin_).ns));
  last_acked_ = record_.acked_bytes;
  last_covered_ns_ = static_cast<int64_t>(record_.covered_ns);
  begin_ = looked_at_ = end;
  looked_ = {};
  return std::exchange(record_, {});
}

SlotRecord SlotMeter::look(uint64_t own_queue, uint64_t unacked, Instant now) {
  pass(now);
  SlotRecord r = record_.since(looked_);
  r.backlog_bytes = own_queue;
  r.unacked_bytes = unacked;
  r.covered_ns = static_cast<uint64_t>(std::max<int64_t>(1, (now - looked_at_).ns));
  looked_ = record_;
  looked_at_ = now;
  return r;
}

uint64_t SlotMeter::network_queue() const {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(excess_ns_) * last_acked_ /
                               static_cast<uint64_t>(last_covered_ns_));
}

Rate SlotMeter::acked_rate(Instant now) const {
  const int64_t ns = std::max<int64_t>(kWindowNs, (now - window_).ns) + (window_before_ > 0 ? kWindowNs : 0);
  return {
      static_cast<int64_t>((window_bytes_ + window_before_) * 8 * 1'000'000'000 / static_cast<uint64_t>(ns))};
}

}  // namespace matchrdma
