#pragma once
// How times stand in what people are told of a transfer.
#include <string>

#include "dataplane/base/time.h"

namespace matchrdma::host {

/// "12.3 ms"
inline std::string milliseconds(Duration d) {
  const int64_t tenths = (d.ns + 50'000) / 100'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " ms";
}

}  // namespace matchrdma::host
