#include "dataplane/destination/plain.h"

#include <utility>

#include "dataplane/destination/reorder.h"

namespace matchrdma {
namespace {

bool there_is_room(const DestinationFlow& f, uint32_t bytes, const RoleCtx& ctx) {
  const uint64_t limit = ctx.limits->reorder_memory;
  return ctx.n->held_bytes + bytes <= limit && f.held_bytes + bytes <= limit / 4;
}

// Nothing waits for the receiver, and what comes may leave at once.
bool receiver_is_free(EgressGroup& g, const RoleCtx& ctx) {
  if (!g.flows.empty() || !ctx.out->has_room()) return false;
  g.refill(ctx.now);
  return g.open();
}

}  // namespace

Plain deliver_plain(DestinationFlow& f, const Frame& req, PacketRef& packet, Egress& egress,
                    const RoleCtx& ctx) {
  const uint32_t bytes = packet->size;
  if (!f.plain || req.psn() != wire_psn(f.expected) || req.info().read_class) return Plain::kNo;
  if (!there_is_room(f, bytes, ctx) || !receiver_is_free(*f.group, ctx)) return Plain::kNo;
  Held made = held_of(req, f.expected, 1, std::move(packet));
  if (!f.ring.push_back(std::move(made))) {
    packet = std::move(made.packet);
    return Plain::kNo;
  }
  const bool idle = f.ring.size() == 1 || !f.report_dirty;
  egress.slots().arrived(*f.group, bytes, ctx.now);
  count_in(f, bytes, ctx);
  ++f.expected;
  f.report_dirty = true;
  f.group->charge(deliver_one(f, ctx));
  return idle ? Plain::kOwes : Plain::kTaken;
}

bool stays_plain(const DestinationFlow& f) {
  return f.plain && !f.queued && f.deliver_index == f.ring.end() && f.state == DestState::kActive;
}

bool goes_plain(const DestinationFlow& f, const RoleCtx& ctx) {
  const bool in_order = f.state == DestState::kActive && f.beyond.empty() && !f.short_of_memory;
  const bool nothing_waits =
      !f.queued && !f.in_turn && f.deliver_index == f.ring.end() && f.rnr_until <= ctx.now;
  return in_order && nothing_waits;
}

}  // namespace matchrdma
