#pragma once
// Times of a capture as a replay can use them.
#include "dataplane/base/result.h"
#include "pcap/capture_reader.h"

namespace matchrdma {

/// Duty: makes captured times steady, the same way in both passes. Long pauses are cut, and a clock that was
/// set back goes on where it was. Refuses what no clock of a capture does.
class CaptureClock {
 public:
  /// When the packet was captured; call for every one in file order.
  Result<Instant> steady(const CapturedPacket& p);
  /// Pauses that were cut to kLongestPause, and packets whose time goes back.
  uint64_t shortened() const { return shortened_; }
  uint64_t backwards() const { return backwards_; }

  /// Idle flows have expired by then (Timing::idle_expiry), and nothing else happens in a pause: the timers of
  /// two proxies would only cost time.
  static constexpr Duration kLongestPause = Duration::seconds(65);
  /// Several interfaces in one file do not lie further apart.
  static constexpr Duration kDisorder = Duration::seconds(1);
  /// Nobody captures with a year between two packets: a time stamp is wrong.
  static constexpr Duration kAbsurd = Duration::seconds(int64_t{366} * 86400);

 private:
  uint64_t shortened_ = 0, backwards_ = 0;
  Instant last_ = Instant::never();  ///< newest, as captured
  Duration skipped_{};
};

}  // namespace matchrdma
