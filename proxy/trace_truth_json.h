#pragma once
#include <nlohmann/json.hpp>

#include "pcap/make/trace_truth.h"

namespace matchrdma {

/// What is true of a made trace, for machines.
nlohmann::ordered_json trace_truth_json(const TraceTruth& t);

}  // namespace matchrdma
