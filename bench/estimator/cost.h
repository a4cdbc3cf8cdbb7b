#pragma once
// What the estimator costs the control thread.
#include <string>
#include <vector>

namespace matchrdma::estimator_bench {

struct CostRow {
  std::string what;
  double got, allowed;
  std::string unit;
  bool ok() const { return got <= allowed; }
};

/// Times are the least of several runs of the same work, slot by slot: what else the machine does is left out.
std::vector<CostRow> measure_cost();

}  // namespace matchrdma::estimator_bench
