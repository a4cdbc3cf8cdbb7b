#pragma once
// What a benchmark says of many rounds.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace matchrdma {

/// The value that one in `part` of them does not exceed; 0 of none.
inline double one_in(size_t part, std::vector<double> v) {
  if (v.empty()) return 0;
  const auto at = v.begin() + static_cast<std::ptrdiff_t>(v.size() / part);
  std::nth_element(v.begin(), at, v.end());
  return *at;
}
inline double median(std::vector<double> v) { return one_in(2, std::move(v)); }
/// What a round takes when nobody else is at the machine.
inline double lower_quartile(std::vector<double> v) { return one_in(4, std::move(v)); }

}  // namespace matchrdma
