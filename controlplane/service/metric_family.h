#pragma once
// How metrics are declared here: one table per kind of view, read by the scrape and by docs/metrics.md alike.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataplane/base/time.h"
#include "dataplane/flow/counters.h"

namespace matchrdma::service {

/// One line of docs/metrics.md.
struct MetricInfo {
  std::string name;
  std::string type;    ///< counter, gauge, histogram
  std::string unit;    ///< "" where it is a plain number
  std::string labels;  ///< "worker, reason"
  std::string help;
};

/// One metric of a view T. `value` gives base units: seconds, bytes.
template <typename T>
struct MetricOf {
  CounterKind kind;
  const char* key;  ///< without matchrdma_ and _total
  const char* unit;
  const char* help;
  double (*value)(const T&);
  bool (*known)(const T&) = nullptr;  ///< false: this one has no value now and is left out
};

/// "matchrdma_KEY", and "_total" behind a counter.
std::string metric_name(const char* key, CounterKind kind);
const char* metric_type(CounterKind kind);

constexpr double plain(uint64_t v) { return static_cast<double>(v); }
constexpr double seconds(Duration d) { return static_cast<double>(d.ns) / 1e9; }

}  // namespace matchrdma::service
