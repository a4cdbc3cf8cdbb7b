#pragma once
// One proxy of the swarm: its Shard, what waits at its doors, and what watches it.
#include <map>
#include <string>
#include <vector>

#include "controlplane/endpoint/sole_budgets.h"
#include "sim/swarm/watch.h"

namespace matchrdma::swarm {

/// Watches everybody and makes nobody anything but what its registration says.
class WatchfulPolicy final : public FlowPolicy {
 public:
  explicit WatchfulPolicy(const Tuning& tuning) : tuning_(tuning) {}
  bool learns() const override { return true; }
  Completion completion(const FlowKey&, uint8_t, std::optional<Completion> registered) const override {
    return registered.value_or(Completion::kTransparent);
  }
  uint32_t weight(const FlowKey&, uint8_t) const override { return 1; }
  Budget budget(const GroupKey&) const override { return {tuning_.budget, tuning_.budget_burst_bytes}; }

 private:
  const Tuning& tuning_;
};

/// Duty: keeps one life of a Shard after the other. Does not know the wires.
struct Proxy {
  Proxy(const Options& o, uint32_t instance, std::string name, PacketPool& pool);

  bool alive() const { return back_at.is_never(); }
  /// An empty memory, a new instance number.
  void begin_life(const Options& o, uint32_t instance, PacketPool& pool);
  /// What its journal holds of promises that were not kept.
  std::vector<JournalRecord> promises() const;

  WatchfulPolicy watchful;
  Shard shard;
  Outbox out;
  Watch watch;
  SoleBudgets budgets;
  std::vector<RxItem> rx, hostile;
  std::vector<Message> messages;
  std::map<uint32_t, JournalRecord> journal;  ///< newest record of each slot
  Instant dies_at = Instant::never(), back_at = Instant::never();
  Duration away;  ///< how long it is dead
};

}  // namespace matchrdma::swarm
