#pragma once
// What is compared: the estimator of the house, the paper's, and three of a line each.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "controlplane/estimator/settings.h"
#include "controlplane/estimator/slot_view.h"
#include "dataplane/flow/slot_record.h"

namespace matchrdma::estimator_bench {

/// Makes budgets for the closed loop.
class Contender {
 public:
  virtual ~Contender() = default;
  struct Decision {
    double budget = -1, forecast = 0;  ///< Gb/s; a budget below 0: none, the one before holds
  };
  /// truth: mean capacity of the slots after this one, Gb/s, as many as the horizon; for the oracle alone.
  virtual Decision close(int64_t slot, const SlotRecord& r, std::span<const double> truth) = 0;
  /// A budget out of cycle: false if there is none. recent: what was seen in the last `passed`.
  virtual bool tighten(const SlotRecord& recent, Duration passed, double& budget) = 0;
};

enum class ContenderKind : uint8_t { kEarned, kPaper, kLastValue, kMovingAverage, kOracle };
const char* name_of(ContenderKind k);
std::unique_ptr<Contender> make_contender(ContenderKind k, Duration slot, Duration one_way);

}  // namespace matchrdma::estimator_bench
