#include "dataplane/destination/reorder.h"

#include <algorithm>

#include "dataplane/destination/settle.h"

namespace matchrdma {
namespace {

void count_held(const RoleCtx& ctx, int64_t bytes) {
  ctx.n->held_bytes += static_cast<uint64_t>(bytes);
  ctx.n->held_peak = std::max(ctx.n->held_peak, ctx.n->held_bytes);
}

bool memory_allows(const DestinationFlow& f, uint32_t bytes, const RoleCtx& ctx) {
  return bytes <= reorder_room(f, ctx);
}

// The newest are dropped when memory is short: what is older is nearer to delivery, and the source keeps a
// copy.
void no_memory(DestinationFlow& f, const RoleCtx& ctx) {
  f.short_of_memory = true;
  ctx.n->reasons.add(Reason::kReorderMemory);
}

// What is next in order must find room, or nothing ever moves: the newest of what waits behind a hole gives
// way.
bool make_room(DestinationFlow& f, uint32_t bytes, const RoleCtx& ctx) {
  while (!memory_allows(f, bytes, ctx) && !f.beyond.empty()) {
    count_held(ctx, -int64_t{f.beyond.drop_last()});
    no_memory(f, ctx);
  }
  return f.ring.empty() || memory_allows(f, bytes, ctx);
}

bool hold(DestinationFlow& f, const Frame& req, Seq psn, PacketRef& packet, const RoleCtx& ctx) {
  const uint32_t bytes = packet->size;
  Held h = held_of(req, psn, psn_count(req, f.path_mtu), std::move(packet));
  const Seq end = h.end();
  if (!f.ring.push_back(std::move(h))) {
    packet = std::move(h.packet);
    return false;
  }
  count_in(f, bytes, ctx);
  f.expected = end;
  f.report_dirty = true;
  return true;
}

void read_again(DestinationFlow& f, Seq psn, PacketRef packet, const RoleCtx& ctx) {
  for (uint64_t i = f.answering.begin(); i < f.answering.end(); ++i) {
    Answering& a = f.answering[i];
    if (psn < a.begin || psn >= a.end) continue;
    a.next_response = psn;
  }
  f.last_request_out = ctx.now;
  ctx.out->packet(Side::kLan, Cause::kReadRetry, std::move(packet));
}

void below_expected(DestinationFlow& f, const Frame& req, Seq psn, PacketRef packet, const RoleCtx& ctx) {
  f.report_now = f.report_dirty = true;
  if (req.info().read_class) {
    // A retry is answered by the receiver alone; it goes at once (C3). Its first copy was delivered or stands
    // in the queue before it.
    read_again(f, psn, std::move(packet), ctx);
    return;
  }
  if (psn >= f.acked_end) {
    ctx.n->reasons.add(Reason::kSpanDuplicate);
    return;
  }
  // The source forwards a duplicate of what is confirmed when it cannot tell what it was: the receiver
  // acknowledges it again without executing it (IBA C9-105), and that ACK may pass.
  ++f.reacks_due;
  deliver_asking(f, std::move(packet), Cause::kDuplicateForwarded, ctx);
}

// Where as much waits as came while the hole stood open, the next one is filled before the receiver gets there.
// No more than arrives in the time that a repair takes.
void remember_repair(EgressGroup& g, uint64_t bytes, const RoleCtx& ctx) {
  const Duration repair = ctx.rtt + ctx.rtt / 4;
  const auto most =
      static_cast<uint64_t>(static_cast<__int128>(ctx.tuning->egress.bps) * repair.ns / 8'000'000'000);
  g.repair_bytes = std::max(g.repair_bytes, std::min(bytes, most));
}

void drain_beyond(DestinationFlow& f, const RoleCtx& ctx) {
  const uint64_t before = f.beyond.bytes();
  while (!f.beyond.empty() && f.beyond.first() <= f.expected) {
    const Seq psn = f.beyond.first();
    PacketRef p = f.beyond.pop_first();
    count_held(ctx, -int64_t{p->size});
    const ParseResult parsed = parse_frame(p->bytes());
    if (psn == f.expected) {
      if (hold(f, parsed.frame, psn, p, ctx)) continue;
      no_memory(f, ctx);
      break;
    }
    if (parsed.frame.info().read_class) read_again(f, psn, std::move(p), ctx);
  }
  if (before != f.beyond.bytes()) remember_repair(*f.group, before - f.beyond.bytes(), ctx);
  f.beyond.forget_taken();
}

void keep_beyond(DestinationFlow& f, const Frame& req, Seq psn, PacketRef packet, const RoleCtx& ctx) {
  const uint32_t bytes = packet->size;
  if (psn - f.acked_end >= ctx.limits->max_psn_window || !memory_allows(f, bytes, ctx)) {
    no_memory(f, ctx);
    return;
  }
  if (!f.beyond.add(psn, psn + psn_count(req, f.path_mtu), std::move(packet))) {
    ctx.n->reasons.add(Reason::kSpanDuplicate);
    return;
  }
  count_held(ctx, bytes);
  f.report_dirty = true;
}

// Until the barrier is lifted nothing is held: the packet passes, a copy is remembered as delivered.
void pass_before_lift(DestinationFlow& f, const Frame& req, Seq psn, PacketRef packet, Egress& egress,
                      const RoleCtx& ctx) {
  if (psn != f.expected) {
    egress.slots().passed(*f.group, packet->size, ctx.now);
    ctx.out->packet(Side::kLan, psn < f.base ? Cause::kBelowBase : Cause::kBarrier, std::move(packet));
    return;
  }
  egress.slots().arrived(*f.group, packet->size, ctx.now);
  const bool first = psn == f.base;
  PacketRef kept = packet.share();
  if (hold(f, req, psn, kept, ctx)) {
    Held& h = f.ring.back();
    h.flags |= Held::kDelivered;
    note_delivered(f, h, false, ctx);
    if (first) h.asked = ctx.now;
    f.deliver_index = f.ring.end();
    f.delivered_end = h.end();
    if (h.has(Held::kReadClass)) f.answering.push_back({h.psn, h.end(), h.psn});
  }
  f.last_delivery = ctx.now;
  if (first) {
    deliver_asking(f, std::move(packet), Cause::kFirst, ctx);
  } else {
    f.last_request_out = ctx.now;
    ctx.out->packet(Side::kLan, Cause::kFirst, std::move(packet));
  }
}

}  // namespace

Held held_of(const Frame& req, Seq psn, uint32_t psns, PacketRef packet) {
  Held h;
  h.psn = psn;
  h.psns = psns;
  if (req.info().read_class) h.flags |= Held::kReadClass;
  if (req.info().ends_message()) h.flags |= Held::kEnds;
  if (req.ack_req()) h.flags |= Held::kAckReq;
  h.packet = std::move(packet);
  return h;
}

void count_in(DestinationFlow& f, uint32_t bytes, const RoleCtx& ctx) {
  f.held_bytes += bytes;
  EgressGroup& g = *f.group;
  if (g.queued_bytes + g.unacked_bytes == 0) g.meter.begins(ctx.now);
  g.queued_bytes += bytes;
  count_held(ctx, bytes);
}

uint64_t reorder_room(const DestinationFlow& f, const RoleCtx& ctx) {
  const uint64_t limit = ctx.limits->reorder_memory, held = f.held_bytes + f.beyond.bytes();
  const auto left = [](uint64_t all, uint64_t used) { return all - std::min(all, used); };
  const uint64_t room = std::min(left(limit, ctx.n->held_bytes), left(limit / 4, held));
  // Receivers that stand still may hold all of it; nobody else is to starve for them.
  return std::max(room, left(std::min(ctx.limits->reserve_bytes_per_flow, limit / 4), held));
}

void on_request(DestinationFlow& f, const Frame& req, PacketRef packet, Egress& egress, const RoleCtx& ctx) {
  const Seq psn = unwrap24(req.psn().v, f.expected);
  if (f.state == DestState::kTracking) {
    pass_before_lift(f, req, psn, std::move(packet), egress, ctx);
    return;
  }
  if (psn < f.base) {
    egress.slots().passed(*f.group, packet->size, ctx.now);
    ctx.n->reasons.add(Reason::kBelowBase);
    ctx.out->packet(Side::kLan, Cause::kBelowBase, std::move(packet));
    return;
  }
  egress.slots().arrived(*f.group, packet->size, ctx.now);
  if (psn < f.expected) {
    below_expected(f, req, psn, std::move(packet), ctx);
    return;
  }
  if (psn > f.expected) {
    keep_beyond(f, req, psn, std::move(packet), ctx);
    return;
  }
  if (!make_room(f, packet->size, ctx) || !hold(f, req, psn, packet, ctx)) {
    no_memory(f, ctx);
    return;
  }
  drain_beyond(f, ctx);
  egress.offer(f, ctx);
}

void skip_to(DestinationFlow& f, Seq end, Egress& egress, const RoleCtx& ctx) {
  settle(f, end, ctx);
  if (end <= f.expected) return;
  f.expected = end;
  f.delivered_end = std::max(f.delivered_end, end);
  drain_beyond(f, ctx);
  egress.offer(f, ctx);
}

}  // namespace matchrdma
