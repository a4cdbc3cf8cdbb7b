#pragma once
// The thread that makes budgets: estimating takes longer than a worker may stand still (ESTIMATOR, Cost).
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "controlplane/estimator/budget_maker.h"
#include "controlplane/service/slot_history.h"
#include "controlplane/tls/file_descriptor.h"
#include "dataplane/base/result.h"
#include "proxy/daemon/budget_lane.h"

namespace matchrdma::daemon {

/// One span whose budgets an estimator makes.
struct BudgetSpan {
  size_t span = 0;
  EstimatorSettings settings;
};

/// Duty: closes slots in time, whatever the workers do, and carries what comes of it. Sleeps while no receiver
/// is active. Workers meet it only in their lanes.
class BudgetThread {
 public:
  /// now: the workers' clock, callable from here. wake: ends the sleep of a worker.
  BudgetThread(std::vector<BudgetSpan> spans, uint32_t workers, uint32_t max_groups,
               std::function<Instant()> now, std::function<void(uint32_t worker)> wake);
  ~BudgetThread();
  BudgetThread(const BudgetThread&) = delete;

  /// nullptr: budgets of that span are fixed. Both outlive the workers' loops.
  BudgetLane* lane(size_t span, uint32_t worker);
  /// For the worker: it has put something into a lane. Between slots nothing but what is urgent ends the sleep.
  void told(bool urgent);

  Result<void> start();
  void stop();

  /// The newest slots of the span, and what was said about them; any thread.
  service::SlotList history(size_t span) const;
  BudgetCounts counts(size_t span) const;

 private:
  struct Span {
    Span(const BudgetSpan& s, uint32_t workers, uint32_t max_groups)
        : number(s.span), slot(s.settings.slot), maker(s.settings, workers, max_groups) {}
    size_t number;
    Duration slot;
    BudgetMaker maker;
    std::vector<std::unique_ptr<BudgetLane>> lanes;  ///< by worker
    int64_t shown = -1;                              ///< newest slot in the history
    service::SlotHistory history;
    BudgetCounts counts;
  };
  enum class Sleep : uint8_t { kAwake, kBetweenSlots, kForRecords };
  void run();
  bool nothing_came(Sleep how) const;
  void serve(Span& s, Instant now);
  const Span* find(size_t span) const;
  /// A worker that is busy hands its records over a little after the end of the slot.
  static Duration grace(const Span& s) { return s.slot / 8; }
  Instant next_wakeup() const;
  void sleep(Instant until);

  std::vector<std::unique_ptr<Span>> spans_;
  std::function<Instant()> now_;
  std::function<void(uint32_t)> wake_;
  FileDescriptor event_;
  std::atomic<bool> stop_{false};
  std::atomic<Sleep> sleep_{Sleep::kAwake};
  mutable std::mutex history_mutex_;  ///< between this thread and who looks
  std::thread thread_;
};

}  // namespace matchrdma::daemon
