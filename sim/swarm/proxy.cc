#include "sim/swarm/proxy.h"

#include <memory>

namespace matchrdma::swarm {
namespace {

ShardConfig shard_config(const Options& o, uint32_t instance, const FlowPolicy& watchful) {
  ShardConfig c;
  c.limits = o.limits;
  c.timing = o.timing;
  c.tuning = o.tuning;
  c.instance = instance;
  if (o.watchful) c.policy = &watchful;
  return c;
}

}  // namespace

Proxy::Proxy(const Options& o, uint32_t instance, std::string name, PacketPool& pool)
    : watchful(o.tuning),
      shard(shard_config(o, instance, watchful), pool),
      out(64),
      watch(o, std::move(name)),
      budgets(o.estimator, o.limits.max_groups) {}

void Proxy::begin_life(const Options& o, uint32_t instance, PacketPool& pool) {
  std::destroy_at(&shard);
  std::construct_at(&shard, shard_config(o, instance, watchful), pool);
  budgets = SoleBudgets(o.estimator, o.limits.max_groups);
  watch.restarted();
}

std::vector<JournalRecord> Proxy::promises() const {
  std::vector<JournalRecord> all;
  for (const auto& [slot, r] : journal) {
    if (r.promised) all.push_back(r);
  }
  return all;
}

}  // namespace matchrdma::swarm
