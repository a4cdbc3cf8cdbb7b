// What a packet is, and whose it is. Never drops what it does not understand (PROTOCOL 2).
#include "dataplane/base/prefetch.h"
#include "dataplane/destination/plain.h"
#include "dataplane/destination/reorder.h"
#include "dataplane/destination/settle.h"
#include "dataplane/shard/impl.h"
#include "dataplane/source/activate.h"
#include "dataplane/source/plain.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/pause_frame.h"

namespace matchrdma {
namespace {

bool tracked(const FlowRecord& r) { return r.source ? r.source->tracked() : r.destination->tracking(); }

}  // namespace

void Shard::Impl::forward(Side from, Cause cause, PacketRef packet, const RoleCtx& ctx) {
  ctx.out->packet(from == Side::kLan ? Side::kWan : Side::kLan, cause, std::move(packet));
}

// From the LAN past the gate: it uses the receiver's budget all the same.
void Shard::Impl::forward_outside(const Frame& f, Cause cause, PacketRef packet, const RoleCtx& ctx) {
  gate.charge_outside(GroupKey::of(FlowKey::of(f, 0)), packet->size, ctx.now);
  forward(Side::kLan, cause, std::move(packet), ctx);
}

// What belongs to no flow of ours uses the receiver's budget, and is counted where it leaves, all the same.
void Shard::Impl::pass(Side from, const Frame& f, PacketRef packet, const RoleCtx& ctx) {
  if (from == Side::kLan) {
    forward_outside(f, Cause::kForward, std::move(packet), ctx);
    return;
  }
  if (EgressGroup* g = config.tuning.slot.ns > 0 ? egress.find(GroupKey::of(FlowKey::of(f, 0))) : nullptr) {
    egress.slots().passed(*g, packet->size, ctx.now);
  }
  forward(from, Cause::kForward, std::move(packet), ctx);
}

void Shard::Impl::on_packet(RxItem& item, Seen& s, const RoleCtx& ctx) {
  ++(item.side == Side::kLan ? n.rx_lan : n.rx_wan);
  PacketRef packet = std::move(item.packet);
  const ParseResult& parsed = s.parsed;
  if (parsed.kind != ParseKind::kRoce) {
    if (ether_type(packet->bytes()) == kEtherTypePause) {
      n.reasons.add(Reason::kPause);  // C12: a pause belongs to one link
      return;
    }
    n.reasons.add(parsed.reason);
    forward(item.side, Cause::kForward, std::move(packet), ctx);
    return;
  }
  ++n.roce;
  if (parsed.reason != Reason::kNone) {
    on_opaque(item.side, s, parsed.reason, std::move(packet), ctx);
    return;
  }
  on_roce(item.side, s, std::move(packet), ctx);
}

void Shard::Impl::on_roce(Side side, Seen& s, PacketRef packet, const RoleCtx& ctx) {
  const Frame& f = s.parsed.frame;
  switch (f.info().transport) {
    case Transport::kRc:
      break;
    case Transport::kCnp:
      on_cnp(side, s, std::move(packet), ctx);
      return;
    default:
      if (f.dest_qp().v == 1 && f.info().transport == Transport::kUd) {
        on_cm(side, f, std::move(packet), ctx);
        return;
      }
      n.reasons.add(f.info().transport == Transport::kUc ? Reason::kUc : Reason::kUd);
      pass(side, f, std::move(packet), ctx);
      return;
  }
  if (f.info().request) {
    on_rc_request(side, s, std::move(packet), ctx);
  } else {
    on_rc_response(side, s, std::move(packet), ctx);
  }
}

void Shard::Impl::on_rc_request(Side side, Seen& s, PacketRef packet, const RoleCtx& ctx) {
  Frame& f = s.parsed.frame;
  const FlowIndex i = s.flow;
  FlowRecord* r = record(i);
  const bool ours = r != nullptr && (side == Side::kLan ? r->source != nullptr : r->destination != nullptr);
  if (!ours) {
    if (r == nullptr) watch_request(s.key, f, ctx);
    n.reasons.add(Reason::kUntracked);
    pass(side, f, std::move(packet), ctx);
    return;
  }
  if (config.tuning.check_icrc && !check_icrc(f)) {
    const bool drop = side == Side::kWan && tracked(*r);  // H17: custody has the right one
    n.reasons.add(side == Side::kLan ? Reason::kIcrcLan : Reason::kIcrcWan);
    if (!drop) forward(side, Cause::kForward, std::move(packet), ctx);
    return;
  }
  r->last = ctx.now;
  if (side == Side::kLan) {
    if (const Plain p = accept_plain(*r->source, f, packet, ctx); p != Plain::kNo) {
      if (p == Plain::kOwes) owe(i);
      return;
    }
    touch(i);
    if (!r->policy_asked) on_first_request(i, f, ctx);
    source_request(*r->source, f, std::move(packet), ctx);
    return;
  }
  DestinationFlow& d = *r->destination;
  const Plain p = deliver_plain(d, f, packet, egress, ctx);
  if (p == Plain::kTaken) return;
  d.request_seen = ctx.now;
  if (p == Plain::kOwes) {
    owe(i);
    return;
  }
  touch(i);
  if (d.tracking()) {
    on_request(d, f, std::move(packet), egress, ctx);
  } else if ((d.state == DestState::kClosing && !d.closing_passes) ||
             (d.state == DestState::kPoisoned && !d.gave_up)) {
    n.reasons.add(d.state == DestState::kClosing ? Reason::kClosing : Reason::kPoisoned);
  } else {
    n.reasons.add(Reason::kUntracked);
    pass(side, f, std::move(packet), ctx);
  }
}

void Shard::Impl::on_rc_response(Side side, const Seen& s, PacketRef packet, const RoleCtx& ctx) {
  const Frame& f = s.parsed.frame;
  // A response carries the sender's QPN: its key is that of the reverse flow, and it answers the flow behind
  // it.
  FlowRecord* key_record = record(s.flow);
  const FlowIndex i = key_record == nullptr ? kNoFlow : key_record->reverse;
  FlowRecord* r = record(i);
  const bool ours = r != nullptr && (side == Side::kLan ? r->destination != nullptr : r->source != nullptr);
  if (!ours) {
    if (key_record == nullptr) watch_answer(side, s.key, f, ctx);
    n.reasons.add(Reason::kUntracked);
    pass(side, f, std::move(packet), ctx);
    return;
  }
  if (config.tuning.check_icrc && !icrc_ok(f)) {
    n.reasons.add(side == Side::kLan ? Reason::kIcrcLan : Reason::kIcrcWan);
    forward(side, Cause::kForward, std::move(packet), ctx);
    return;
  }
  const bool is_data = f.opcode() != op::kRcAck;
  if (side == Side::kWan) {
    touch(i);
    if (is_data && key_record->destination) key_record->destination->last_response_out = ctx.now;
    source_answer(*r->source, f, std::move(packet), ctx);
    return;
  }
  DestinationFlow& d = *r->destination;
  d.answer_seen = ctx.now;
  const Answer answer = on_receiver_answer(d, f, egress, ctx);
  if (!is_data && stays_plain(d)) {
    owe(i);
  } else {
    touch(i);
  }
  if (answer == Answer::kAbsorb) return;
  forward_outside(f, is_data ? Cause::kResponse : Cause::kPassedAck, std::move(packet), ctx);
}

void Shard::Impl::on_cnp(Side side, const Seen& s, PacketRef packet, const RoleCtx& ctx) {
  FlowRecord* key_record = record(s.flow);
  FlowRecord* r = key_record == nullptr ? nullptr : record(key_record->reverse);
  if (side == Side::kLan && r != nullptr && r->destination &&
      on_receiver_cnp(*r->destination, ctx) == Answer::kAbsorb) {
    return;
  }
  forward(side, Cause::kForward, std::move(packet), ctx);
}

void Shard::Impl::on_opaque(Side side, const Seen& s, Reason why, PacketRef packet, const RoleCtx& ctx) {
  const Frame& f = s.parsed.frame;
  n.reasons.add(why);
  const FlowIndex i = s.flow;
  FlowRecord* r = record(i);
  if (side == Side::kLan && r != nullptr && r->source && r->source->state == FlowState::kActive && icrc_ok(f)) {
    // C14: nobody knows what it does, so nothing after it may be acknowledged before it.
    n.reasons.add(Reason::kOpaqueFence);
    matchrdma::drain(*r->source);
    keep_until_closed(*r->source, std::move(packet), ctx);
    touch(i);
    return;
  }
  forward(side, Cause::kForward, std::move(packet), ctx);
}

}  // namespace matchrdma
