#include "config/match.h"

#include <algorithm>

namespace matchrdma {
namespace {

template <class List, class Fits>
bool any(const List& list, Fits fits) {
  return list.empty() || std::any_of(list.begin(), list.end(), fits);
}

bool fits(const MatchConfig& m, const SpanConfig& span, const FlowTraits& f) {
  return any(m.vlans, [&](uint16_t v) { return v == f.key.vlan_outer; }) &&
         any(m.dscps, [&](uint8_t d) { return d == f.dscp; }) &&
         any(m.spans, [&](const std::string& name) { return name == span.name; }) &&
         any(m.sources, [&](const Prefix& p) { return p.contains(f.key.src); }) &&
         any(m.destinations, [&](const Prefix& p) { return p.contains(f.key.dst); });
}

}  // namespace

const ClassConfig* class_of(const Config& config, const FlowTraits& flow) {
  if (flow.key.port_pair >= config.spans.size()) return nullptr;
  const SpanConfig& span = config.spans[flow.key.port_pair];
  const auto c = std::find_if(config.classes.begin(), config.classes.end(),
                              [&](const ClassConfig& k) { return fits(k.match, span, flow); });
  return c == config.classes.end() ? nullptr : &*c;
}

Completion completion_of(const Config& config, const FlowTraits& flow, bool registered) {
  const ClassConfig* c = class_of(config, flow);
  if (c == nullptr || (!registered && !c->learning)) return Completion::kTransparent;
  return c->completion;
}

RateConfig budget_of(const SpanConfig& span, const GroupKey& receiver) {
  const auto b = std::find_if(span.budgets.begin(), span.budgets.end(), [&](const BudgetConfig& g) {
    return g.receivers.contains(receiver.dst) && (!g.vlan || *g.vlan == receiver.vlan_outer);
  });
  return b == span.budgets.end() ? span.default_budget : b->budget;
}

}  // namespace matchrdma
