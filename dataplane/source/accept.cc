#include "dataplane/source/accept.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "dataplane/source/acknowledge.h"
#include "dataplane/source/duplicate.h"
#include "dataplane/source/owned.h"
#include "dataplane/source/read_fence.h"

namespace matchrdma {
namespace {

constexpr Seq kLostHead = 64;  ///< PSNs that a LAN may lose at the head of a burst, again and again

// A packet that we chose not to take is met with silence until the sender returns to it (H5): a NAK would make
// it resend what we cannot take either, and ACKs above it would lose it.
Accepted refuse(SourceFlow& f, Seq psn, Reason why, const RoleCtx& ctx) {
  ctx.n->reasons.add(why);
  if (f.chosen_drop < 0) f.chosen_drop = psn;
  return Accepted::kTaken;
}

bool over_memory(const SourceFlow& f, uint32_t bytes, const RoleCtx& ctx) {
  return ctx.n->custody_bytes + bytes > ctx.limits->custody_hard_bytes &&
         f.owned_bytes + bytes > ctx.limits->reserve_bytes_per_flow;
}

// Takes custody of the packet at epsn. False: a limit stands in the way (already counted).
bool take(SourceFlow& f, const Frame& req, PacketRef& packet, const RoleCtx& ctx) {
  const uint32_t psns = psn_count(req, f.path_mtu);
  const uint32_t bytes = packet->size;
  if (f.epsn + psns - f.confirmed_end >= ctx.limits->max_psn_window) {
    refuse(f, f.epsn, Reason::kWindowLimit, ctx);
    return false;
  }
  if (over_memory(f, bytes, ctx)) {
    refuse(f, f.epsn, Reason::kMemoryHard, ctx);
    return false;
  }
  if (req.info().read_class && !add_read(f, req, f.epsn, psns, ctx)) {
    refuse(f, f.epsn, Reason::kWindowLimit, ctx);
    return false;
  }
  if (!f.ack_frame.prepared()) f.set_ack_form(AckTemplate::mirrored(req));
  if (own(f, req, psns, packet, ctx) == nullptr) {
    if (req.info().read_class) f.reads.pop_back();
    refuse(f, f.epsn, Reason::kWindowLimit, ctx);
    return false;
  }
  return true;
}

bool take_to_gate(SourceFlow& f, const Frame& req, PacketRef& packet, Gate& gate, const RoleCtx& ctx) {
  const uint32_t bytes = packet->size;
  if (!take(f, req, packet, ctx)) return false;
  f.gate_bytes += bytes;
  f.group->backlog_bytes += bytes;
  ctx.n->gate_bytes += bytes;
  ctx.n->gate_peak = std::max(ctx.n->gate_peak, ctx.n->gate_bytes);
  gate.offer(f, ctx);
  return true;
}

void close_gap_if_filled(SourceFlow& f, Gate& gate, const RoleCtx& ctx) {
  while (!f.gap.empty() && f.gap.begin()->first <= f.epsn) {
    auto node = f.gap.extract(f.gap.begin());
    if (node.key() < f.epsn) continue;
    const ParseResult parsed = parse_frame(node.mapped()->bytes());
    if (!take_to_gate(f, parsed.frame, node.mapped(), gate, ctx)) break;
  }
  if (!f.gap.empty() && f.gap_nak_sent()) {
    f.gap_nak = SourceFlow::GapNak::kAnswered;  // it sends the rest again, too
    return;
  }
  f.gap_nak = SourceFlow::GapNak::kNone;
  f.gap_since = f.gap.empty() ? Instant::never() : ctx.now;
}

Accepted keep_behind_gap(SourceFlow& f, Seq psn, PacketRef& packet, const RoleCtx& ctx) {
  if (f.chosen_drop >= 0 && psn >= f.chosen_drop) {
    ctx.n->reasons.add(Reason::kLanGapFull);
    return Accepted::kTaken;  // silence (H5)
  }
  if (f.gap.size() >= ctx.limits->lan_gap_packets || psn - f.confirmed_end >= ctx.limits->max_psn_window) {
    ctx.n->reasons.add(Reason::kLanGapFull);
  } else {
    f.gap.try_emplace(psn, std::move(packet));
  }
  // One NAK for each gap.
  const bool another = f.gap_nak == SourceFlow::GapNak::kAnswered;
  if (another) f.gap_nak = SourceFlow::GapNak::kNone;
  if (another || f.gap_since.is_never()) f.gap_since = ctx.now;
  return Accepted::kTaken;
}

// When a gap has lasted too long to be a reordering.
Instant nak_deadline(const SourceFlow& f, const RoleCtx& ctx) {
  return f.gap.empty() || f.gap_nak != SourceFlow::GapNak::kNone ? Instant::never()
                                                                 : f.gap_since + ctx.timing->lan_reorder_wait;
}

// A sender goes back to our last ACK at the latest. One that begins three times in a row at the same message,
// far above what it would have to resend first, knows nothing of it: its QP was reset (C4). Near to epsn the
// head of an old burst may have been lost as often (docs/decisions/0008).
// Where the registered first PSN never came and another one comes again, the sender was past it when the pair
// was registered: nothing was promised yet, so the flow is joined where it stands.
std::optional<Accepted> goes_back_above(SourceFlow& f, const Frame& req, Seq psn) {
  f.jumps = psn == f.jumped_to ? f.jumps + 1 : 0;
  f.jumped_to = psn;
  if (f.base_fresh && f.epsn == f.base && f.jumps >= 1) return Accepted::kBeganEarlier;
  const bool far = psn - f.epsn > kLostHead && req.info().starts_message();
  if (far && f.jumps >= 3) return Accepted::kNewGeneration;
  return std::nullopt;
}

}  // namespace

Accepted accept_request(SourceFlow& f, const Frame& req, PacketRef& packet, Gate& gate, const RoleCtx& ctx) {
  const Seq psn = unwrap24(req.psn().v, f.epsn);
  if (!ctx.peer_up || f.state == FlowState::kReopening) {
    f.dropped_for_peer = true;
    return refuse(f, std::max(psn, f.epsn), Reason::kPeerDown, ctx);
  }
  // What made us drop is over, other than a memory that is full: one NAK instead of the sender's whole timeout.
  if (std::exchange(f.dropped_for_peer, false)) f.chosen_drop = -1;
  const bool paused = f.last_request() + kRetransmissionPause <= ctx.now;
  f.set_last_request(ctx.now);
  if (psn <= f.epsn) f.jumped_to = -1;
  if (psn < f.epsn && paused) note_went_back(f, psn);
  if (psn < f.base) {
    ctx.n->reasons.add(Reason::kBelowBase);
    return Accepted::kForward;
  }
  if (psn < f.epsn) return on_duplicate(f, req, psn, packet, gate, ctx);
  if (psn > f.epsn) {
    const auto another = paused ? goes_back_above(f, req, psn) : std::nullopt;
    return another ? *another : keep_behind_gap(f, psn, packet, ctx);
  }
  if (f.chosen_drop >= 0) f.chosen_drop = -1;
  if (!take_to_gate(f, req, packet, gate, ctx)) return Accepted::kTaken;
  close_gap_if_filled(f, gate, ctx);
  return Accepted::kTaken;
}

bool accept_before_lift(SourceFlow& f, const Frame& req, PacketRef& packet, const RoleCtx& ctx) {
  const Seq psn = unwrap24(req.psn().v, f.epsn);
  if (psn != f.epsn) {
    ctx.n->reasons.add(psn < f.base ? Reason::kBelowBase : Reason::kBarrier);
    return true;
  }
  PacketRef kept = packet.share();
  if (!take(f, req, kept, ctx)) return false;
  // Not gated: it was forwarded before anybody promised a rate, and counts as admitted.
  Owned& o = f.window.back();
  o.sent = ctx.now;
  o.flags |= Owned::kSent;
  f.set_admit_index(f.window.end());
  f.raise_released(o.end());
  f.note_sent(o.end(), ctx.now);
  if (o.has(Owned::kEnds) || o.has(Owned::kAckReq)) want_ack(f, o.end(), o.accepted);
  return true;
}

void run_accept_timers(SourceFlow& f, const RoleCtx& ctx) {
  if (nak_deadline(f, ctx) <= ctx.now) f.gap_nak = SourceFlow::GapNak::kDue;
  // hold_max (H3): a NIC that waits longer resends; above the soft limit only admission acknowledges.
  if (ctx.custody_is_short()) return;
  while (f.released_end() < f.epsn) {
    const uint64_t i = f.find(f.released_end());
    if (i >= f.window.end() || f.window[i].accepted + ctx.timing->hold_max > ctx.now) break;
    const Owned& o = f.window[i];
    f.raise_released(o.end());
    if (o.has(Owned::kAckReq) || o.has(Owned::kEnds)) want_ack(f, o.end(), o.accepted);
  }
}

Instant accept_deadline(SourceFlow& f, const RoleCtx& ctx) {
  Instant at = nak_deadline(f, ctx);
  if (f.released_end() < f.epsn && !ctx.custody_is_short()) {
    const uint64_t i = f.find(f.released_end());
    if (i < f.window.end()) at = earlier(at, f.window[i].accepted + ctx.timing->hold_max);
  }
  return at;
}

}  // namespace matchrdma
