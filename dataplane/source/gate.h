#pragma once
// Admission: per budget group, deficit round robin over flows; repair first, small messages before large ones
// *between* flows, never inside one. Admission and acknowledgement are one decision (PROTOCOL 4).
#include <memory>
#include <span>
#include <vector>

#include "dataplane/base/deadline_queue.h"
#include "dataplane/base/intrusive_fifo.h"
#include "dataplane/flow/group_index.h"
#include "dataplane/flow/role_ctx.h"
#include "dataplane/source/source_flow.h"

namespace matchrdma {

struct BudgetGroup {
  GroupKey key;
  TokenBucket bucket;
  uint32_t index = 0;
  using List = IntrusiveFifo<SourceFlow, &SourceFlow::gate_next>;
  List urgent, small, bulk;
  uint64_t backlog_bytes = 0;
  uint64_t admitted_bytes = 0;
  uint32_t small_turns = 0;  ///< small flows served since a bulk flow was
  bool told = false;         ///< its rate is the peer's BUDGET
  // While it is: after `expires` the rate is halved, once per `validity`, down to the floor.
  uint64_t seq = 0;
  Duration validity;
  Instant expires = Instant::never();
  Instant valid_until;  ///< of the newest BUDGET
  Rate floor;
  /// Brings the bucket up to `now`, with the rate that an old BUDGET has come to.
  void refill(Instant now);
  /// That rate, without touching anything.
  Rate rate_at(Instant now) const;
  bool empty() const { return urgent.empty() && small.empty() && bulk.empty(); }
};

class Gate {
 public:
  explicit Gate(uint32_t max_groups) : timers_(max_groups), max_groups_(max_groups) {}

  /// The group of a receiver, made on first use; nullptr when there are too many.
  BudgetGroup* group(const GroupKey& key, const RoleCtx& ctx);
  BudgetGroup* find(const GroupKey& key);
  std::span<const std::unique_ptr<BudgetGroup>> groups() const { return groups_; }
  /// The flow has something to admit; admits at once when the budget allows.
  void offer(SourceFlow& f, const RoleCtx& ctx);
  /// Serves every group whose budget has opened.
  void run(const RoleCtx& ctx);
  Instant next_deadline() const { return timers_.earliest(); }
  /// A BUDGET of the peer: the rate until the next one, but not more than the policy's. One that is older than
  /// the newest, says nothing that can be followed (no rate, no validity), or is for a receiver that nothing
  /// was sent to changes nothing.
  void on_budget(const Budget& m, const RoleCtx& ctx);
  /// The peer has started anew, and may say nothing any more: the policy's rates hold until it does.
  void forget_told(const RoleCtx& ctx);
  /// The policy has changed: groups that the peer told nothing about take its rates, the others no more than
  /// that.
  void reload(const RoleCtx& ctx);
  /// Traffic of the group outside the gate (UC, UD, transparent, responses) uses its budget too.
  void charge_outside(const GroupKey& key, uint32_t bytes, Instant now);
  /// Takes the flow out of its list (its window was discarded).
  void remove(SourceFlow& f);

 private:
  void serve(BudgetGroup& g, const RoleCtx& ctx);
  bool send_one(SourceFlow& f, const RoleCtx& ctx);
  void arm(BudgetGroup& g, const RoleCtx& ctx);
  std::vector<std::unique_ptr<BudgetGroup>> groups_;
  GroupIndex numbers_;
  DeadlineQueue timers_;
  uint32_t max_groups_;
};

/// Bytes that leave for the span on account of the group.
void count_admitted(BudgetGroup& g, uint32_t bytes, const RoleCtx& ctx);

/// Bytes of the next item the flow would send; 0 if it has none.
uint32_t next_gate_bytes(SourceFlow& f);

}  // namespace matchrdma
