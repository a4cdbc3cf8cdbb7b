#include "dataplane/io/clock.h"

#include <rte_cycles.h>

namespace matchrdma::io {

Clock::Clock() : origin_(rte_rdtsc()) {
  const auto one_second = static_cast<unsigned __int128>(1'000'000'000) << kShift;
  multiplier_ = static_cast<uint64_t>(one_second / rte_get_tsc_hz());
}

Instant Clock::now() const {
  const auto cycles = static_cast<unsigned __int128>(rte_rdtsc() - origin_);
  return Instant{static_cast<int64_t>((cycles * multiplier_) >> kShift)};
}

}  // namespace matchrdma::io
