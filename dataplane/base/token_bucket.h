#pragma once
// Rate limiter in integers: credit in units of 1e-9 bit, so that rate (bit/s) x time (ns) needs no division.
#include <algorithm>
#include <cstdint>

#include "dataplane/base/time.h"
#include "dataplane/base/types.h"

namespace matchrdma {

class TokenBucket {
 public:
  TokenBucket() = default;
  TokenBucket(Rate rate, uint64_t burst_bytes, Instant now)
      : rate_(rate.bps), burst_(static_cast<int64_t>(burst_bytes) * kByte), credit_(burst_), at_(now) {}

  void refill(Instant now) {
    if (now <= at_) return;
    const __int128 earned =
        static_cast<__int128>(rate_) * (now - at_).ns;  // years at 100 Gb/s do not fit in less
    credit_ = earned > burst_ - credit_ ? burst_ : credit_ + static_cast<int64_t>(earned);
    at_ = now;
  }
  /// Charged even into debt; the debt is bounded so that the arithmetic cannot overflow.
  void charge(uint32_t bytes) { credit_ = std::max(credit_ - int64_t{bytes} * kByte, -kMaxDebt); }
  bool open() const { return credit_ > 0; }
  /// When `open()` becomes true if nothing else is charged.
  Instant opens_at() const {
    if (credit_ > 0) return at_;
    if (rate_ <= 0) return Instant::never();
    return at_ + Duration::nanos(-credit_ / rate_ + 1);
  }
  Rate rate() const { return {rate_}; }
  void set_rate(Rate r, Instant now) {
    refill(now);
    rate_ = r.bps;
  }

 private:
  static constexpr int64_t kByte = 8'000'000'000;
  static constexpr int64_t kMaxDebt = int64_t{1} << 61;
  int64_t rate_ = 0, burst_ = 0, credit_ = 0;
  Instant at_;
};

}  // namespace matchrdma
