#pragma once
// What the sender knows of a path from its tokens: round trip, rate, and from when on silence means something.
#include <algorithm>

#include "dataplane/base/time.h"
#include "dataplane/base/types.h"
#include "host/fabric/bytes_in.h"
#include "host/fabric/round_trip.h"

namespace matchrdma::host {

/// Duty: estimates of one path. Does not know cells or queue pairs. Time is an argument.
class PathMeter {
 public:
  PathMeter(Rate rate, Duration round_trip) : rate_(rate), round_trip_(round_trip), base_(round_trip) {}

  /// From the post of so many bytes until their token came back, without its residence.
  void sample(Duration round_trip, uint64_t bytes) {
    round_trip_.add(round_trip);
    const Duration empty = std::max(round_trip - time_of(bytes), Duration{});
    base_ = base_measured_ ? std::min(base_, empty) : empty;
    base_measured_ = true;
  }
  /// Bytes that had come by `arrived` (of any clock, always the same), while the path had work all the time
  /// since the last call or restart().
  void came(uint64_t bytes, Instant arrived) {
    bytes_ += bytes;
    if (since_.is_never()) return restart(arrived);
    const Duration passed = arrived - since_;
    if (passed.ns < std::max<int64_t>(base_.ns / 4, kLeastSpan.ns)) return;
    const double seen = static_cast<double>(bytes_) * 8e9 / static_cast<double>(passed.ns);
    const double old = static_cast<double>(rate_.bps);
    rate_.bps = std::max<int64_t>(static_cast<int64_t>(measured_ ? old + (seen - old) / 4 : seen), 1);
    measured_ = true;
    restart(arrived);
  }
  void restart(Instant arrived = Instant::never()) {
    since_ = arrived;
    bytes_ = 0;
  }

  Rate rate() const { return rate_; }
  Duration round_trip() const { return round_trip_.average(); }
  /// Of a byte in an empty path: without the time that a cell takes to be sent.
  Duration base() const { return base_; }

  /// T_soft: max(avg + 4 dev, avg + floor) with floor = max(avg / 2, the least) (HOST.md H9, papers/002 eq. 1).
  /// Before the first sample nothing is known: a second (RFC 6298 2.1).
  Duration soft_timeout(Duration least_floor) const {
    const Duration avg = round_trip_.average(), floor = std::max(avg / 2, least_floor);
    const Duration t = std::max(avg + round_trip_.deviation() * 4, avg + floor);
    return round_trip_.measured() ? t : std::max(t, kUnknown);
  }
  /// Bytes that may be in flight: enough that the path never runs dry and that a rate measured too low grows,
  /// little enough that a queue in it stays below a round trip; two cells at the least. Twice the BDP, since
  /// what confirms comes in lumps where hosts look seldom.
  uint64_t window(uint64_t cell) const { return static_cast<uint64_t>(2 * bytes_in(rate_, base_)) + 2 * cell; }
  /// When so many bytes more would have come, from now on.
  Duration expected(uint64_t in_flight, uint64_t more) const { return base_ + time_of(in_flight + more); }

 private:
  Duration time_of(uint64_t bytes) const {
    return Duration{static_cast<int64_t>(8e9 * static_cast<double>(bytes) / static_cast<double>(rate_.bps))};
  }

  static constexpr Duration kLeastSpan = Duration::micros(50), kUnknown = Duration::seconds(1);
  Rate rate_;
  RoundTrip round_trip_;
  Duration base_;
  Instant since_ = Instant::never();
  uint64_t bytes_ = 0;
  bool measured_ = false, base_measured_ = false;
};

}  // namespace matchrdma::host
