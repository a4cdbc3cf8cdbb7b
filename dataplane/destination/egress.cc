#include "dataplane/destination/egress.h"

#include <algorithm>
#include <utility>

#include "dataplane/wire/frame_builder.h"

namespace matchrdma {
namespace {

constexpr int64_t kQuantum = 9216;
constexpr int64_t kAsksPerSlot = 8;
constexpr int64_t kAsksPerShortSlot = 32;  // several for every look, also where the receiver has turned slow

bool eligible(const DestinationFlow& f, const RoleCtx& ctx) {
  return f.state == DestState::kActive && f.deliver_index < f.ring.end() && f.rnr_until <= ctx.now;
}

void set_ack_req(PacketRef& packet, const RoleCtx& ctx) {
  const ParseResult before = parse_frame(packet->bytes());
  if (before.frame.ack_req() || !make_writable(packet, *ctx.pool)) return;
  const ParseResult parsed = parse_frame(packet->bytes());
  rewrite_ack_req(parsed.frame, {packet->data, packet->size}, true);
}

void remember_answering(DestinationFlow& f, const Held& h, const RoleCtx& ctx) {
  while (f.answering.size() >= ctx.limits->read_ranges) f.answering.pop_front();
  if (!f.answering.push_back({h.psn, h.end(), h.psn})) ctx.n->reasons.add(Reason::kNoBuffer);
}

// Senders with rare AckReq would leave us without an answer for ever, so we ask ourselves (H19).
void ask_where_due(DestinationFlow& f, Held& h, const RoleCtx& ctx) {
  if (h.has(Held::kAckReq) || h.has(Held::kReadClass)) {
    f.since_ack_req = 0;
    return;
  }
  const bool last_queued = f.deliver_index + 1 == f.ring.end() && h.has(Held::kEnds);
  // And within a slot several times, or the slots of a slow receiver would not show what it takes.
  const Duration slot = ctx.tuning->slot;
  const int64_t asks = ctx.rtt < slot ? kAsksPerShortSlot : kAsksPerSlot;
  const bool slot_wants = slot.ns > 0 && f.asked_at + slot / asks <= ctx.now;
  if (++f.since_ack_req < ctx.tuning->dest_ack_every && !last_queued && !slot_wants) return;
  set_ack_req(h.packet, ctx);
  h.flags |= Held::kAckReq;
  f.since_ack_req = 0;
}

}  // namespace

uint32_t deliver_one(DestinationFlow& f, const RoleCtx& ctx) {
  Held& h = f.ring[f.deliver_index];
  const bool again = h.has(Held::kDelivered);
  if (again && h.has(Held::kAnswered)) {
    ++f.deliver_index;  // answered READ-class requests are never repeated
    return 0;
  }
  if (!again) {
    // The receiver owes an answer from now on: how long it had none to give does not count.
    if (f.deliver_index == f.ring.begin()) f.last_progress = ctx.now;
    ask_where_due(f, h, ctx);
    if (h.has(Held::kReadClass)) remember_answering(f, h, ctx);
  } else {
    ++ctx.n->redelivered;
  }
  h.flags |= Held::kDelivered;
  f.delivered_end = std::max(f.delivered_end, h.end());
  f.last_delivery = f.last_request_out = ctx.now;
  ++f.deliver_index;
  const uint32_t bytes = h.packet->size;
  note_delivered(f, h, again, ctx);
  ctx.out->packet(Side::kLan, again ? f.redeliver_cause : Cause::kFirst, h.packet.share());
  return bytes;
}

void note_delivered(DestinationFlow& f, Held& h, bool again, const RoleCtx& ctx) {
  const uint32_t bytes = h.packet->size;
  EgressGroup& g = *f.group;
  g.meter.sent(bytes, ctx.now);
  if (again) {
    h.asked = Instant::never();  // nobody can tell which of the two an ACK answers
    return;
  }
  g.queued_bytes -= bytes;
  g.unacked_bytes += bytes;
  ctx.n->unsettled_bytes += bytes;
  if (h.has(Held::kAckReq) && !h.has(Held::kReadClass)) h.asked = f.asked_at = ctx.now;
}

void deliver_asking(DestinationFlow& f, PacketRef packet, Cause cause, const RoleCtx& ctx) {
  set_ack_req(packet, ctx);
  f.last_request_out = ctx.now;
  ctx.out->packet(Side::kLan, cause, std::move(packet));
}

EgressGroup* Egress::group(const GroupKey& key, const RoleCtx& ctx) {
  if (EgressGroup* g = find(key)) return g;
  if (groups_.size() == max_groups_) return nullptr;
  const auto number = static_cast<uint32_t>(groups_.size());
  groups_.push_back(std::make_unique<EgressGroup>(key, number, *ctx.tuning, ctx.now));
  numbers_.add(key, number);
  return groups_.back().get();
}

void Egress::reload(const RoleCtx& ctx) {
  for (auto& g : groups_) {
    g->capacity.set_rate(ctx.tuning->egress, ctx.now);
    arm(*g, ctx);
  }
}

void Egress::arm(EgressGroup& g, const RoleCtx& ctx) {
  // A queue that waits for our own pacing proves nothing about the receiver.
  g.meter.held_back(!g.flows.empty() && !g.capacity.open(), ctx.now);
  timers_.set(g.index, g.flows.empty() ? Instant::never() : later(g.opens_at(), ctx.now));
}

void Egress::serve(EgressGroup& g, const RoleCtx& ctx) {
  g.refill(ctx.now);
  while (g.open() && !g.flows.empty() && ctx.out->has_room()) {
    DestinationFlow& f = g.flows.pop();
    f.queued = false;
    ctx.touched->push_back(f.index);
    if (!std::exchange(f.in_turn, false)) f.deficit = std::min(f.deficit + kQuantum, 4 * kQuantum);
    while (eligible(f, ctx) && f.deficit > 0 && g.open() && ctx.out->has_room()) {
      const uint32_t bytes = deliver_one(f, ctx);
      g.charge(bytes);
      f.deficit -= bytes;
    }
    if (eligible(f, ctx)) {
      f.queued = true;
      f.in_turn = f.deficit > 0;  // the receiver's rate stopped it in the middle of its turn
      if (f.in_turn) {
        g.flows.push_front(f);
      } else {
        g.flows.push(f);
      }
    } else {
      f.deficit = 0;
    }
  }
  arm(g, ctx);
}

void Egress::offer(DestinationFlow& f, const RoleCtx& ctx) {
  if (f.queued || !eligible(f, ctx)) return;
  EgressGroup& g = *f.group;
  const bool idle = g.flows.empty();
  f.queued = true;
  g.flows.push(f);
  if (idle) serve(g, ctx);
}

void Egress::run(const RoleCtx& ctx) {
  while (timers_.earliest() <= ctx.now && ctx.out->has_room()) serve(*groups_[timers_.earliest_owner()], ctx);
}

void Egress::remove(DestinationFlow& f) {
  if (!f.queued) return;
  f.group->flows.remove(f);
  f.queued = f.in_turn = false;
}

}  // namespace matchrdma
