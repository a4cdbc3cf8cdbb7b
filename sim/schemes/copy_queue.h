#pragma once
// The near end of a flow with pseudo-ACKs: copies of what the far receiver does not have yet (SIMULATOR 6).
#include <algorithm>
#include <cstdint>
#include <deque>

#include "sim/sim_packet.h"
#include "sim/sim_time.h"

namespace matchrdma::sim {

/// Duty: the memory that all copies of a device share.
class CopyMemory {
 public:
  explicit CopyMemory(int64_t bytes) : bytes_(bytes) {}
  bool take(int64_t bytes) {
    if (used_ + bytes > bytes_) return false;
    used_ += bytes;
    peak_ = std::max(peak_, used_);
    return true;
  }
  void give(int64_t bytes) { used_ -= bytes; }
  int64_t used() const { return used_; }
  int64_t peak() const { return peak_; }

 private:
  int64_t bytes_, used_ = 0, peak_ = 0;
};

/// Duty: the order of a flow's packets, and go-back-N over the long link. A pure object. A packet that finds no
/// room for a copy goes on without: it and all behind it remain the sender's, not acknowledged here before the
/// receiver has them.
class CopyQueue {
 public:
  /// What becomes of a request.
  enum class Arrival : uint8_t {
    kPass,    ///< goes on: in order, or the sender's own repair of what has no copy
    kWait,    ///< in order, but goes on as a copy, behind those that are being sent again
    kAgain,   ///< has been taken over before, so the sender's repeat is not needed
    kGap,     ///< not in order: goes on as it is, and the sender is asked
    kRefuse,  ///< in order, would have to wait, and there is no room: dropped, and the sender is asked
  };

  /// round_trip: of the long link. memory: outlives this.
  CopyQueue(CopyMemory& memory, SimSpan round_trip) : memory_(memory), round_trip_(round_trip) {}

  Arrival arrive(const SimPacket& p, SimTime now);
  /// All before this may be acknowledged to the sender: copies are here, or the receiver has it.
  int64_t acknowledged() const { return owned_; }
  bool empty() const { return entries_.empty(); }

  /// The receiver has all before `psn`. False: it is no news.
  bool release(int64_t psn);
  /// The far device asks for `psn`. False: it is known already, since that was sent less than a round trip ago.
  bool ask(int64_t psn, SimTime now);
  /// Everything goes again.
  void go_back() { cursor_ = una_; }

  enum class Next : uint8_t { kNothing, kCopy, kAskSender };
  /// The next packet to be sent again, without its addresses. kAskSender: there is no copy of it, so the flow
  /// goes back to acknowledged() at the sender.
  Next next(SimPacket& p, SimTime now);

 private:
  struct Entry {
    uint32_t size, payload, message;
    bool starts, ends, ce;
    bool copied;
    SimTime sent;
  };
  Entry& entry(int64_t psn) { return entries_[static_cast<size_t>(psn - una_)]; }
  void pop_front();
  void truncate(int64_t psn);
  void advance_owned();

  CopyMemory& memory_;
  SimSpan round_trip_;
  std::deque<Entry> entries_;  ///< from una_ to expected_
  int64_t una_ = 0;            ///< PSN of the first that the receiver is not known to have
  int64_t owned_ = 0;          ///< first without a copy
  int64_t cursor_ = 0;         ///< first that is to be sent (again); expected_: nothing is
  int64_t expected_ = 0;       ///< next of the sender
};

}  // namespace matchrdma::sim
