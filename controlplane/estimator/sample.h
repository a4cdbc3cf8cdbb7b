#pragma once
// What one slot proves about the capacity (ESTIMATOR 2).
#include <cstdint>

#include "controlplane/estimator/settings.h"
#include "dataplane/flow/slot_record.h"

namespace matchrdma {

enum class SampleKind : uint8_t {
  kSaturated,  ///< the receiver was the bottleneck: the rate is the capacity
  kCensored,   ///< it was not: the capacity is at least the acked rate
};

struct RateSample {
  SampleKind kind = SampleKind::kCensored;
  double rate = 0;       ///< Gb/s: the capacity if saturated, else the acked rate
  double acked = 0;      ///< Gb/s over the whole slot
  bool limited = false;  ///< arrivals were held back by the budget

  bool saturated() const { return kind == SampleKind::kSaturated; }
};

/// governing: the budget that governed this slot's arrivals, Gb/s; 0 if there was none.
RateSample sample_of(const SlotRecord& r, double governing, const Scale& scale);

}  // namespace matchrdma
