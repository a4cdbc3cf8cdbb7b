#pragma once
// Between one worker's end of a span and the thread that makes the budgets.
#include <atomic>
#include <cstdint>

#include "dataplane/flow/slot_record.h"
#include "dataplane/flow/told_budget.h"
#include "proxy/daemon/spsc_ring.h"

namespace matchrdma::daemon {

struct BudgetLane {
  /// Several slots of every receiver that a worker may watch at once; what does not fit is lost, and the next
  /// slot is another one.
  static constexpr size_t kDepth = 4096;
  static constexpr size_t kLooks = 256;  ///< a look that is lost leaves the budget as it is until the slot ends
  SpscRing<GroupSlot> closed{kDepth};    ///< by the worker
  SpscRing<GroupSlot> looked{kLooks};    ///< by the worker, within a slot
  SpscRing<ToldBudget> budgets{kDepth};  ///< for the worker
  std::atomic<int64_t> rtt_ns{0};        ///< of the span, as the worker sees it
};

}  // namespace matchrdma::daemon
