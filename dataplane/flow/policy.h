#pragma once
// What an operator decides for a flow: when work requests complete, how fast a receiver may be fed.
#include <cstdint>
#include <optional>

#include "dataplane/base/types.h"
#include "dataplane/flow/flow_key.h"

namespace matchrdma {

/// When a work request may complete at the sender (PROTOCOL 4, C7).
enum class Completion : uint8_t { kTransparent, kEarly, kEndToEnd };

/// Asked by the shard when a flow sends its first packet, and for every flow again when the answers have
/// changed. Answers must not depend on time.
class FlowPolicy {
 public:
  virtual ~FlowPolicy() = default;
  /// False: no flow that was learned is anything but transparent, so nobody needs to be watched.
  virtual bool learns() const = 0;
  /// Policy of the flow with this key. `registered`: what its registration asks for; none for one that was
  /// learned.
  virtual Completion completion(const FlowKey& key, uint8_t dscp,
                                std::optional<Completion> registered) const = 0;
  /// Share of its receiver's budget, beside other flows that have something to send: 1 or more.
  virtual uint32_t weight(const FlowKey& key, uint8_t dscp) const = 0;
  struct Budget {
    Rate rate;
    uint64_t burst_bytes = 0;
  };
  /// Budget of one receiver until the peer tells one.
  virtual Budget budget(const GroupKey& receiver) const = 0;
};

}  // namespace matchrdma
