#pragma once
// Series of egress capacity and demand for the estimator bench.
#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/base/time.h"

namespace matchrdma::estimator_bench {

/// Step of the fluid model.
inline constexpr Duration kStep = Duration::micros(5);
inline constexpr double kStepNs = static_cast<double>(kStep.ns);
/// What is played, and from when on it counts.
inline constexpr Duration kPlayed = Duration::seconds(6), kWarmUp = Duration::millis(1500);
/// The series are longer than that by two spans of 10 ms: the oracle and the score look ahead.
inline constexpr Duration kAhead = Duration::millis(20);

/// Gb/s per step.
using Rates = std::vector<float>;

struct Series {
  std::string name;
  Rates capacity;      ///< of the receiver
  Rates demand;        ///< of the sender; empty: all the line takes
  bool scored = true;  ///< false: nobody could have known, so an error of the forecast means nothing
};

/// A row of the acceptance table: one seed of it is one series or several.
struct Row {
  std::string name;
  bool chance;  ///< false: every seed gives the same
  std::vector<Series> (*make)(uint64_t seed);
};

const std::vector<Row>& rows();

}  // namespace matchrdma::estimator_bench
