#pragma once
// Which traffic class a flow belongs to, and which budget a receiver has. Asked once per new flow.
#include "config/config.h"
#include "dataplane/flow/flow_key.h"

namespace matchrdma {

/// What is known of a flow when it is first seen. `key.port_pair` is the index of the span.
struct FlowTraits {
  FlowKey key;       ///< of the requests
  uint8_t dscp = 0;  ///< 0..63
};

/// The first class that fits, or null: transparent.
const ClassConfig* class_of(const Config& config, const FlowTraits& flow);
/// Policy of a flow: its class's; transparent where there is none, or where the flow was learned by a class
/// that does not learn.
Completion completion_of(const Config& config, const FlowTraits& flow, bool registered);
/// Budget of one receiver.
RateConfig budget_of(const SpanConfig& span, const GroupKey& receiver);

}  // namespace matchrdma
