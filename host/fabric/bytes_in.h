#pragma once
#include "dataplane/base/time.h"
#include "dataplane/base/types.h"

namespace matchrdma::host {

/// That pass at this rate in this time; of a round trip: the bandwidth-delay product.
inline double bytes_in(Rate rate, Duration time) {
  return static_cast<double>(rate.bps) / 8e9 * static_cast<double>(time.ns);
}

}  // namespace matchrdma::host
