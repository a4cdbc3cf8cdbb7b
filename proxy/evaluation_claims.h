#pragma once
// The paper's claims of its figure 3 beside what was measured (SIMULATOR 11).
#include <optional>
#include <string>
#include <vector>

#include "proxy/evaluation.h"

namespace matchrdma {

std::vector<EvaluationClaim> claims_of(const std::vector<EvaluationFigure>& figures,
                                       const std::vector<EvaluationRun>& runs);
/// What the paper leaves open, and what was chosen (SIMULATOR 8).
std::vector<std::string> evaluation_choices();

/// A value of a run by its name.
std::optional<double> value_of(const sim::Values& values, const std::string& metric);

}  // namespace matchrdma
