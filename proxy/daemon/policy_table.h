#pragma once
// The operator's classes and budgets as the shards ask for them.
#include <map>
#include <memory>
#include <set>
#include <string>

#include "config/config.h"
#include "config/match.h"
#include "dataplane/flow/policy.h"

namespace matchrdma::daemon {

/// Duty: answers a shard of one span from the config and from what was ordered since. Immutable: a change makes
/// another one.
class PolicyTable final : public FlowPolicy {
 public:
  /// `silenced`: names of classes that an operator made transparent (ctl mode).
  PolicyTable(std::shared_ptr<const Config> config, size_t span, std::set<std::string> silenced);

  bool learns() const override { return learns_; }
  Completion completion(const FlowKey& key, uint8_t dscp, std::optional<Completion> registered) const override;
  uint32_t weight(const FlowKey& key, uint8_t dscp) const override;
  Budget budget(const GroupKey& receiver) const override;

 private:
  FlowTraits traits_of(const FlowKey& key, uint8_t dscp) const;

  std::shared_ptr<const Config> config_;
  size_t span_;
  std::set<std::string> silenced_;
  bool learns_;
};

}  // namespace matchrdma::daemon
