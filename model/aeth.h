#pragma once
// The two code tables of the AETH syndrome, written from the IBA tables (not shared with the proxy: this is the
// oracle).
#include <algorithm>
#include <array>
#include <cstdint>

#include "dataplane/base/time.h"

namespace matchrdma::model {

inline constexpr uint8_t kCreditsUnlimited = 31;

/// End-to-end credit codes 0..30 (IBA 9.7.7.2); 31 means that credits are not in use.
inline constexpr std::array<uint32_t, 31> kCreditTable{
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,  192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};

/// Largest code that does not promise more than `count` receive work requests.
constexpr uint8_t encode_credits(uint32_t count) {
  const auto it = std::upper_bound(kCreditTable.begin(), kCreditTable.end(), count);
  return static_cast<uint8_t>(it - kCreditTable.begin() - 1);
}
/// Receive work requests promised by `code` (0..30).
constexpr uint32_t decode_credits(uint8_t code) { return kCreditTable[std::min<size_t>(code, 30)]; }

/// RNR NAK timer codes in units of 10 us (IBA 9.7.5.2.8).
inline constexpr std::array<uint32_t, 32> kRnrTimerTable{
    65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
constexpr Duration decode_rnr_timer(uint8_t code) {
  return Duration::micros(int64_t{10} * kRnrTimerTable[code & 31]);
}

}  // namespace matchrdma::model
