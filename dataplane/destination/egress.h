#pragma once
// Paced delivery to the receiver: deficit round robin over the flows of a receiver, in PSN order inside a flow.
#include <memory>
#include <vector>

#include "dataplane/base/deadline_queue.h"
#include "dataplane/destination/egress_group.h"
#include "dataplane/destination/receiver_slots.h"
#include "dataplane/flow/group_index.h"
#include "dataplane/flow/role_ctx.h"

namespace matchrdma {

class Egress {
 public:
  Egress(uint32_t max_groups, Duration slot) : slots_(slot), timers_(max_groups), max_groups_(max_groups) {}
  /// The group of a receiver, made on first use; nullptr when there are too many.
  EgressGroup* group(const GroupKey& key, const RoleCtx& ctx);
  EgressGroup* find(const GroupKey& key) {
    const uint32_t* i = numbers_.find(key);
    return i == nullptr ? nullptr : groups_[*i].get();
  }
  /// The flow may have something to deliver; delivers at once when the pacing allows.
  void offer(DestinationFlow& f, const RoleCtx& ctx);
  void run(const RoleCtx& ctx);
  Instant next_deadline() const { return earlier(timers_.earliest(), slots_.next_deadline()); }
  void remove(DestinationFlow& f);
  ReceiverSlots& slots() { return slots_; }
  /// Tuning has changed: every receiver takes its rate.
  void reload(const RoleCtx& ctx);

 private:
  void serve(EgressGroup& g, const RoleCtx& ctx);
  void arm(EgressGroup& g, const RoleCtx& ctx);
  std::vector<std::unique_ptr<EgressGroup>> groups_;
  GroupIndex numbers_;
  ReceiverSlots slots_;
  DeadlineQueue timers_;
  uint32_t max_groups_;
};

/// The next packet of the flow leaves for the receiver; returns its bytes, which are not charged yet.
uint32_t deliver_one(DestinationFlow& f, const RoleCtx& ctx);

/// A held packet leaves for the receiver; again: not for the first time.
void note_delivered(DestinationFlow& f, Held& h, bool again, const RoleCtx& ctx);

/// Gives one packet to the receiver with AckReq set (in a copy if somebody else holds it; without a buffer for
/// that: as it is).
void deliver_asking(DestinationFlow& f, PacketRef packet, Cause cause, const RoleCtx& ctx);

}  // namespace matchrdma
