#pragma once
// Searches in rings of packets ordered by PSN, whose elements have `psn` and `end()`.
#include <cstdint>

#include "dataplane/base/types.h"

namespace matchrdma {

/// Index of the first element whose end lies above `s`; ring.end() if none.
template <typename Ring>
uint64_t first_ending_above(const Ring& ring, Seq s) {
  uint64_t lo = ring.begin(), hi = ring.end();
  while (lo < hi) {
    const uint64_t mid = lo + (hi - lo) / 2;
    if (ring[mid].end() <= s) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return lo;
}

/// Index of the element that covers `s`; ring.end() if none.
template <typename Ring>
uint64_t find_covering(const Ring& ring, Seq s) {
  const uint64_t i = first_ending_above(ring, s);
  return i < ring.end() && ring[i].psn <= s ? i : ring.end();
}

}  // namespace matchrdma
