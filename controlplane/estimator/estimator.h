#pragma once
// All budget groups of one proxy: records in, budgets out, once per slot.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "controlplane/estimator/fair_share.h"
#include "controlplane/estimator/group_estimator.h"
#include "controlplane/estimator/settings.h"
#include "controlplane/estimator/slot_view.h"
#include "dataplane/flow/slot_record.h"

namespace matchrdma {

/// Where a group stands.
struct GroupPlace {
  uint32_t port = 0;   ///< egress port that its receiver is behind
  double weight = 1;   ///< of its share of the port; above 0
  Duration one_way{};  ///< D of its span, from PROBE
};

struct GroupOutput {
  uint32_t group;
  const SlotOutput* slot;  ///< until the next close()
};

/// Sum over the active groups behind a port, Gb/s.
struct PortTotal {
  uint32_t port = 0;
  uint32_t groups = 0;
  double wanted = 0, granted = 0;
};

/// Duty: which groups are active, and that those behind one port are together granted no more than its rate. A
/// group is active from its first record with bytes until it had none for a second; then all but its capacity
/// level is forgotten, and it takes neither time nor memory.
///
/// Groups are numbers that the caller gives. Per slot: record() from each worker, then close().
class Estimator {
 public:
  Estimator(const EstimatorSettings& settings, uint32_t max_groups);

  /// New groups stand behind port 0 at distance 0. To be called again when the delay or the weight changes.
  void place(uint32_t group, const GroupPlace& place);
  /// What a worker saw of the group in this slot.
  void record(uint32_t group, const SlotRecord& r);
  /// Nobody knows what happened to the group in this slot: it keeps the budget that it has.
  void skip(uint32_t group) { groups_[group].unseen = groups_[group].listed; }
  /// The slot has ended: the budgets of all active groups, by port and number. Numbers rise; what is left out
  /// was not observed. A number that does not rise gives nothing, and the records stay for the next one.
  std::span<const GroupOutput> close(int64_t slot);

  std::span<const PortTotal> ports() const { return ports_; }
  /// nullptr while the group is idle.
  GroupEstimator* active(uint32_t group) { return groups_[group].estimator.get(); }
  /// Memory of the active groups.
  size_t bytes() const;

 private:
  struct Group {
    GroupPlace place;
    SlotRecord record;
    GroupSeed seed;
    int64_t last_bytes = 0;  ///< slot
    std::unique_ptr<GroupEstimator> estimator;
    bool listed = false, unseen = false;
  };
  void sort_active();
  void retire_idle(int64_t slot);
  void share_port(std::span<const uint32_t> groups);

  EstimatorSettings settings_;
  double port_;  ///< Gb/s
  int64_t idle_slots_;
  int64_t last_slot_;
  std::vector<Group> groups_;
  std::vector<uint32_t> active_;  ///< by port and number
  std::vector<GroupOutput> outputs_;
  std::vector<PortTotal> ports_;
  std::vector<uint32_t> seen_;
  std::vector<Claim> claims_;
  FairShare fair_;
};

}  // namespace matchrdma
