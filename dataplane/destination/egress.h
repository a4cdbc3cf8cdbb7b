#pragma once
// Paced delivery to the receiver: deficit round robin over the flows of a receiver, in PSN order inside a flow.
#include <memory>
#include <vector>

#include "dataplane/base/deadline_heap.h"
#include "dataplane/base/intrusive_fifo.h"
#include "dataplane/destination/destination_flow.h"
#include "dataplane/flow/role_ctx.h"

namespace matchrdma {

struct EgressGroup {
  GroupKey key;
  TokenBucket bucket;
  uint32_t index = 0;
  IntrusiveFifo<DestinationFlow, &DestinationFlow::next_in_group> flows;
};

class Egress {
 public:
  explicit Egress(uint32_t max_groups) : timers_(max_groups), max_groups_(max_groups) {}
  EgressGroup* group(const GroupKey& key, const RoleCtx& ctx);
  /// The flow may have something to deliver; delivers at once when the pacing allows.
  void offer(DestinationFlow& f, const RoleCtx& ctx);
  void run(const RoleCtx& ctx);
  Instant next_deadline() const { return timers_.earliest(); }
  void remove(DestinationFlow& f);
  /// Tuning has changed: every receiver takes its rate.
  void reload(const RoleCtx& ctx);

 private:
  void serve(EgressGroup& g, const RoleCtx& ctx);
  std::vector<std::unique_ptr<EgressGroup>> groups_;
  DeadlineHeap timers_;
  uint32_t max_groups_;
};

/// Gives one packet to the receiver with AckReq set (in a copy if somebody else holds it; without a buffer for
/// that: as it is).
void deliver_asking(DestinationFlow& f, PacketRef packet, Cause cause, const RoleCtx& ctx);

}  // namespace matchrdma
