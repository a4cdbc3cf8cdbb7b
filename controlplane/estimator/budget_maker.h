#pragma once
// The destination's side of one span: slots of the workers in, budgets for the peer out.
#include <cstdint>
#include <span>
#include <vector>

#include "controlplane/estimator/estimator.h"
#include "controlplane/estimator/fair_share.h"
#include "dataplane/flow/group_index.h"
#include "dataplane/flow/slot_record.h"
#include "dataplane/flow/told_budget.h"

namespace matchrdma {

/// What one worker tells its peer.
struct WorkerBudget {
  uint32_t worker = 0;
  ToldBudget told;
};

/// Why a receiver's newest budget is what it is.
struct GroupWhy {
  GroupKey group;
  const SlotOutput* slot;
};

/// Since the start.
struct BudgetCounts {
  uint64_t late = 0;     ///< records that came when a newer one of the same worker was there
  uint64_t no_room = 0;  ///< records of receivers beyond max_groups
  uint64_t lowered = 0;  ///< budgets out of cycle
};

/// Duty: which receiver has which number, and which worker gets which part of its budget. Does not know when a
/// slot ends.
class BudgetMaker {
 public:
  BudgetMaker(const EstimatorSettings& settings, uint32_t workers, uint32_t max_groups);

  /// Records that a worker has closed.
  void record(uint32_t worker, std::span<const GroupSlot> slots);
  /// What a worker sees of receivers that are strained while the slot goes on.
  void look(uint32_t worker, std::span<const GroupSlot> parts);
  /// Closes what has ended by `now`, then lowers what looks say is too much; one_way: D of the span. What every
  /// worker is to tell, valid until the next call. A worker that owes a record is waited for, a slot at most:
  /// then its receivers keep the budget that they have, since an unknown slot is not an empty one.
  std::span<const WorkerBudget> run(Instant now, Duration one_way);
  /// When run() has something to do, if no record comes before; never while no receiver is watched.
  Instant next_deadline() const;
  /// A slot has ended, and somebody owes its record.
  bool waiting() const { return !wait_until_.is_never(); }
  /// Of that slot: the receivers that are not idle.
  std::span<const GroupWhy> why() const { return why_; }

  /// Number of the newest slot that was closed; -1: none.
  int64_t closed() const { return closed_; }
  const BudgetCounts& counts() const { return counts_; }

 private:
  /// What one worker says of a receiver.
  struct Said {
    int64_t slot = -1;  ///< of its newest record
    bool more = false;
    bool waits = false;  ///< that record has not been closed
    SlotRecord record;
    double arrived = 0;      ///< bytes in the slot being closed
    int64_t part_slot = -1;  ///< of its newest look
    SlotRecord part;
  };
  struct Group {
    GroupKey key;
    Duration one_way{-1};
    std::vector<Said> said;  ///< by worker
    bool live = false;       ///< in live_
    bool looked = false;     ///< in looked_
    bool told = false;       ///< has a budget of the slot that was closed last
  };
  static constexpr uint32_t kNoGroup = ~uint32_t{0};
  uint32_t number_of(const GroupKey& key);
  bool take(uint32_t number, int64_t slot);
  bool owed(int64_t slot) const;
  void close(int64_t slot, Duration one_way);
  SlotRecord strain_of(const Group& g) const;
  void tighten(Duration one_way);
  void share(const Group& g, const GrantedBudget& granted, const SlotWhy& why);

  EstimatorSettings settings_;
  uint32_t workers_, max_groups_;
  Estimator estimator_;
  GroupIndex numbers_;
  std::vector<Group> groups_;
  std::vector<uint32_t> live_;    ///< that are active or owe a record: idle ones cost nothing
  std::vector<uint32_t> looked_;  ///< looks of them wait
  std::vector<WorkerBudget> budgets_;
  std::vector<GroupWhy> why_;
  std::vector<Claim> claims_;
  FairShare fair_;
  int64_t closed_ = -1;
  Instant wait_until_ = Instant::never();
  bool records_ = false;  ///< some wait
  BudgetCounts counts_;
};

}  // namespace matchrdma
