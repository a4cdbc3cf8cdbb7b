#pragma once
// The settings of a run of the evaluation, as text.
#include <string>
#include <utility>
#include <vector>

#include "sim/evaluation/case.h"

namespace matchrdma {

/// By name, in a fixed order. Only what the run uses: nothing of a scheme or a workload that it has not.
std::vector<std::pair<std::string, std::string>> evaluation_parameters(const sim::Case& c);

}  // namespace matchrdma
