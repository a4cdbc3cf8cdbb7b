#include "dataplane/source/plain.h"

#include <algorithm>

#include "dataplane/source/acknowledge.h"
#include "dataplane/source/cnp.h"
#include "dataplane/source/owned.h"

namespace matchrdma {
namespace {

// Nothing waits at the gate, and what comes may leave at once.
bool gate_stands_open(BudgetGroup& g, const RoleCtx& ctx) {
  if (!g.empty() || g.backlog_bytes > ctx.tuning->gate_cnp_threshold || !ctx.out->has_room()) return false;
  g.refill(ctx.now);
  return g.bucket.open();
}

bool is_plain(const SourceFlow& f, const Frame& req, const RoleCtx& ctx) {
  return f.plain_left != 0 && req.psn() == wire_psn(f.epsn) && !req.info().read_class && req.ecn() != kCe &&
         (f.port == 0 || f.port == req.udp_source_port()) && ctx.peer_up;
}

}  // namespace

Plain accept_plain(SourceFlow& f, const Frame& req, PacketRef& packet, const RoleCtx& ctx) {
  const uint32_t bytes = packet->size;
  if (!is_plain(f, req, ctx)) return Plain::kNo;
  if (ctx.n->custody_bytes + bytes > std::min(ctx.limits->custody_soft_bytes, ctx.limits->custody_hard_bytes))
    return Plain::kNo;
  if (ctx.n->custody_packets >= ctx.soft_packets) return Plain::kNo;
  BudgetGroup& g = *f.group;
  if (!gate_stands_open(g, ctx)) return Plain::kNo;
  const bool idle = f.window.empty();
  PacketRef leaves = packet.share();
  Owned* const place = own(f, req, 1, packet, ctx);
  if (place == nullptr) return Plain::kNo;
  Owned& o = *place;
  o.sent = ctx.now;
  o.flags |= Owned::kSent;
  if (req.ecn() != 0) f.ect = req.ecn();
  if (f.last_mark >= f.plain_at) f.unmarked_since = ctx.now;
  f.plain_end = f.epsn;
  f.plain_index = f.window.end();
  f.plain_at = ctx.now;
  --f.plain_left;
  ctx.n->gate_peak = std::max(ctx.n->gate_peak, ctx.n->gate_bytes + bytes);
  ctx.latencies->gate_wait.add(Duration{});
  g.small_turns = f.message_small ? g.small_turns + 1 : 0;
  g.bucket.charge(bytes);
  count_admitted(g, bytes, ctx);
  ctx.out->packet(Side::kWan, Cause::kFirst, std::move(leaves));
  const bool asks = ask_if_due(f, o, ctx);
  if (asks) prefetch_acks(f);
  return asks || idle ? Plain::kOwes : Plain::kTaken;
}

uint32_t plain_packets(const SourceFlow& f, const RoleCtx& ctx) {
  const bool promises = f.state == FlowState::kActive && f.completion == Completion::kEarly && !f.draining;
  const bool identified = f.path_mtu != 0 && f.ack_frame.prepared() && f.seen && (!f.inferred || f.port != 0);
  const bool in_order = f.gap.empty() && f.gap_nak == SourceFlow::GapNak::kNone && f.chosen_drop < 0 &&
                        !f.dropped_for_peer && f.jumped_to < 0 && f.seen_end() <= f.epsn;
  const bool nothing_waits = f.queued == SourceFlow::Queue::kNone && f.resend_pending == 0 &&
                             f.passing.empty() && f.reads.empty() && f.admit_index() == f.window.end() &&
                             f.gate_bytes == 0;
  if (!promises || !identified || !in_order || !nothing_waits) return 0;
  const Seq room = ctx.limits->max_psn_window - 1 - (f.epsn - f.confirmed_end);
  return static_cast<uint32_t>(std::max<Seq>(room, 0));
}

}  // namespace matchrdma
