#pragma once
// A receiver behind a span, one slot a step: just enough to close the loop over an estimator in unit tests.
#include <algorithm>
#include <cstdint>
#include <deque>

#include "dataplane/flow/slot_record.h"

namespace matchrdma {

/// Duty: the record of each slot, from the budgets of h slots ago.
class TestReceiver {
 public:
  static constexpr double kSlotNs = 200'000;
  static constexpr double kDelayNs = 10'000;

  explicit TestReceiver(int horizon) : flight_(static_cast<size_t>(horizon), 20.0) {}

  /// capacity, demand: Gb/s of this slot.
  SlotRecord slot(double capacity, double demand = 100) {
    const double in = std::min(demand, flight_.front()) * kSlotNs / 8;
    const double out = std::min(queue_ + in, capacity * kSlotNs / 8);
    queue_ += in - out;
    flight_.pop_front();
    SlotRecord r;
    r.arrived_bytes = static_cast<uint64_t>(in);
    r.acked_bytes = r.egress_bytes = static_cast<uint64_t>(out);
    r.packets = r.acked_bytes / 4100;
    // The queue stands in the receiver's network as far as it fits.
    const double network = std::min(queue_, 300'000.0);
    r.backlog_bytes = static_cast<uint64_t>(queue_ - network);
    r.unacked_bytes = static_cast<uint64_t>(network);
    const double delay = kDelayNs + (capacity > 0 ? network * 8 / capacity : 0);
    if (out > 0) r.ack_delay.add(Duration::nanos(static_cast<int64_t>(delay)), Instant{});
    if (queue_ > 30'000) {
      r.busy_ns = static_cast<uint64_t>(kSlotNs);
      r.busy_acked_bytes = r.acked_bytes;
    }
    return r;
  }
  void budget(double gbps) { flight_.push_back(gbps); }
  double queue() const { return queue_; }

 private:
  std::deque<double> flight_;
  double queue_ = 0;
};

}  // namespace matchrdma
