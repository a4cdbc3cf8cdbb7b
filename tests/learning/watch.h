#pragma once
// A proxy's learners on made traffic, compared with the truth.
#include <vector>

#include "dataplane/flow/cm_learner.h"
#include "dataplane/flow/correlation.h"
#include "pcap/make/make_trace.h"

namespace matchrdma::learning {

struct Outcome {
  uint64_t packets = 0;
  uint64_t visible = 0;  ///< pairs whose both halves the capture shows
  uint64_t found = 0;
  uint64_t wrong = 0;           ///< pairs named that no connection had at that time
  std::vector<Duration> after;  ///< birth (or first sight) to found
  std::string first_wrong;
};

/// Canary: the learner is told of one answer stream under another QPN, so that a wrong pair must come out.
Outcome run_recipe(const TraceRecipe& r, bool canary);

}  // namespace matchrdma::learning
