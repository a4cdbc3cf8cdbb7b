#pragma once
// What a benchmark says of many rounds.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace matchrdma {

/// The value that a share of them, 0 to 1, does not exceed; 0 of none.
inline double quantile(double share, std::vector<double> v) {
  if (v.empty()) return 0;
  const size_t n = std::min(static_cast<size_t>(static_cast<double>(v.size()) * share), v.size() - 1);
  const auto at = v.begin() + static_cast<std::ptrdiff_t>(n);
  std::nth_element(v.begin(), at, v.end());
  return *at;
}
inline double median(std::vector<double> v) { return quantile(0.5, std::move(v)); }
/// What a round takes when nobody else is at the machine.
inline double lower_quartile(std::vector<double> v) { return quantile(0.25, std::move(v)); }

}  // namespace matchrdma
