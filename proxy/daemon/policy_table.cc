#include "proxy/daemon/policy_table.h"

#include <algorithm>
#include <utility>

#include "config/match.h"

namespace matchrdma::daemon {

PolicyTable::PolicyTable(std::shared_ptr<const Config> config, size_t span, std::set<std::string> silenced)
    : config_(std::move(config)),
      span_(span),
      silenced_(std::move(silenced)),
      learns_(std::any_of(config_->classes.begin(), config_->classes.end(), [](const ClassConfig& c) {
        return c.learning && c.completion != Completion::kTransparent;
      })) {}

Completion PolicyTable::completion(const FlowKey& key, uint8_t dscp,
                                   std::optional<Completion> registered) const {
  const FlowTraits traits = traits_of(key, dscp);
  const ClassConfig* c = class_of(*config_, traits);
  if (c != nullptr && silenced_.contains(c->name)) return Completion::kTransparent;
  // A registration names its policy itself.
  return registered ? *registered : completion_of(*config_, traits, false);
}

uint32_t PolicyTable::weight(const FlowKey& key, uint8_t dscp) const {
  const ClassConfig* c = class_of(*config_, traits_of(key, dscp));
  return c == nullptr ? 1 : c->weight;
}

FlowTraits PolicyTable::traits_of(const FlowKey& key, uint8_t dscp) const {
  FlowTraits traits{key, dscp};
  traits.key.port_pair = static_cast<uint16_t>(span_);
  return traits;
}

FlowPolicy::Budget PolicyTable::budget(const GroupKey& receiver) const {
  const RateConfig b = budget_of(config_->spans[span_], receiver);
  return {b.rate, b.burst_bytes};
}

}  // namespace matchrdma::daemon
