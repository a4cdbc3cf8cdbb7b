#pragma once
// What a path has been given and has not confirmed: descriptors, never bytes (HOST.md H12).
#include <cstdint>
#include <deque>

#include "dataplane/base/time.h"

namespace matchrdma::host {

struct CellRef {
  uint64_t message = 0;
  uint32_t cell = 0;
};

struct TrackedCell {
  CellRef ref{};
  uint32_t bytes = 0;
  Instant posted;
  uint64_t request = 0;    ///< behind its last (CellQueue::post_cell)
  bool duplicate = false;  ///< of a cell that may come another way too: no sample of the round trip
  bool probe = false;
};

/// Duty: the window between "next ACK" and "next SEND" of one path's epoch (papers/002). RC keeps the order, so
/// a count of tails says which.
class TrackingQueue {
 public:
  void posted(const TrackedCell& c) {
    cells_.push_back(c);
    in_flight_ += c.bytes;
  }
  /// The oldest.
  TrackedCell pop() {
    const TrackedCell c = cells_.front();
    cells_.pop_front();
    in_flight_ -= c.bytes;
    ++confirmed_;
    return c;
  }
  bool empty() const { return cells_.empty(); }
  size_t size() const { return cells_.size(); }
  const TrackedCell& front() const { return cells_.front(); }
  auto begin() const { return cells_.begin(); }
  auto end() const { return cells_.end(); }
  uint64_t in_flight() const { return in_flight_; }  ///< bytes
  /// Popped in this epoch, as the peer counts tails.
  uint32_t confirmed() const { return confirmed_; }

 private:
  std::deque<TrackedCell> cells_;
  uint64_t in_flight_ = 0;
  uint32_t confirmed_ = 0;
};

}  // namespace matchrdma::host
