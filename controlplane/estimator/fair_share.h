#pragma once
// Max-min shares by demand and weight (ESTIMATOR 10).
#include <cstdint>
#include <span>
#include <vector>

namespace matchrdma {

/// A flow of a group, a worker that serves it, or a group behind a port.
struct Claim {
  double demand = 0;  ///< Gb/s
  double weight = 1;  ///< above 0; from the config
};

/// Shares of `capacity`, one per claim, together exactly all of it: nobody gets more than it asks for while
/// another gets less than its weight's part; what nobody asks for is given out by weight, so that a demand that
/// begins finds something. Scratch memory is the caller's.
class FairShare {
 public:
  std::span<const double> share(double capacity, std::span<const Claim> claims);

 private:
  std::vector<double> shares_;
  std::vector<uint32_t> order_;
};

}  // namespace matchrdma
