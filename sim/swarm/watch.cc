#include "sim/swarm/watch.h"

#include <algorithm>

#include "dataplane/flow/role_ctx.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/pause_frame.h"

namespace matchrdma::swarm {

void Watch::complain(const std::string& what, Instant now) {
  if (complaint_.empty()) complaint_ = name_ + " at " + std::to_string(now.ns) + " ns: " + what;
}

void Watch::enters_lan(Bytes frame, bool learned) {
  const ParseResult p = parse_frame(frame);
  if (p.kind != ParseKind::kRoce || p.reason != Reason::kNone || !p.frame.info().request || !icrc_ok(p.frame))
    return;
  if (p.frame.info().transport != Transport::kRc) return;
  const FlowKey key = FlowKey::of(p.frame, 0);
  Flow& f = flows_[hash(key)];
  const Seq near = f.highest < 0 ? (Seq{1} << 32) + p.frame.psn().v : f.highest;
  const Seq psn = unwrap24(p.frame.psn().v, near);
  uint32_t mtu = 0;
  for (const auto& [answers, pair] : pairs_) {
    if (pair.flow == key) mtu = pair.mtu;
  }
  if (mtu == 0) return;
  const uint32_t n = psn_count(p.frame, mtu);
  for (uint32_t i = 0; i < n; ++i) f.entered.insert(wire_psn(psn + i).v);
  if (learned && p.frame.info().read_class && psn > f.highest) {
    f.unanswered[psn] = psn + n;
    f.next[psn] = psn;
  } else if (p.frame.info().read_class) {
    // Asked again from here: its sender has all below, and what was in order before counts no more (seed 3342).
    for (const auto& [begin, end] : f.unanswered)
      if (psn >= begin && psn < end) f.next[begin] = psn;
  }
  f.highest = std::max(f.highest, psn + n - 1);
}

// Invariants 2 and 3: only what entered, and nothing at or beyond a READ-class request without its responses.
void Watch::check_pseudo(const Frame& f, Instant now) {
  const auto pair = pairs_.find(hash(FlowKey::of(f, 0)));
  if (pair == pairs_.end()) return complain("AETH of ours for an unknown pair", now);
  if (!icrc_ok(f)) return complain("packet of ours with a wrong ICRC", now);
  Flow& flow = flows_[hash(pair->second.flow)];
  const bool nak = (f.aeth_syndrome() & 0xe0) != 0;
  const Seq psn = unwrap24(f.psn().v, flow.highest);
  const Seq covered = nak ? psn - 1 : psn;
  if (psn > flow.highest + (nak ? 1 : 0)) return complain("AETH above everything the sender sent", now);
  if (!nak && !flow.entered.contains(f.psn().v)) return complain("ACK for a PSN that never entered", now);
  while (!flow.unanswered.empty() && !waits_(pair->second.flow, wire_psn(flow.unanswered.begin()->first))) {
    flow.next.erase(flow.unanswered.begin()->first);
    flow.unanswered.erase(flow.unanswered.begin());
  }
  if (!flow.unanswered.empty() && covered >= flow.unanswered.begin()->first) {
    complain("AETH at PSN " + std::to_string(f.psn().v) +
                 " at or beyond the unanswered READ-class request at " +
                 std::to_string(wire_psn(flow.unanswered.begin()->first).v),
             now);
  }
}

void Watch::note_response(const Frame& f) {
  const auto pair = pairs_.find(hash(FlowKey::of(f, 0)));
  if (pair == pairs_.end() || !icrc_ok(f)) return;
  Flow& flow = flows_[hash(pair->second.flow)];
  const Seq psn = unwrap24(f.psn().v, flow.highest);
  for (auto it = flow.unanswered.begin(); it != flow.unanswered.end(); ++it) {
    if (psn < it->first || psn >= it->second) continue;
    Seq& next = flow.next[it->first];
    if (psn == next) ++next;
    if (next >= it->second) {
      flow.next.erase(it->first);
      flow.unanswered.erase(it);
    }
    return;
  }
}

// Invariant 5: what gate and repair inject for a receiver stays under its budget's integral plus burst.
void Watch::charge(const Frame& f, uint32_t bytes, Instant now) {
  Bucket& b = groups_[hash(FlowKey{f.destination(), f.destination(), Qpn{0}, f.vlan_id(0), f.vlan_id(1), 0})];
  const double rate = static_cast<double>(options_.tuning.budget.bps) / 8e9;
  b.level = std::max(0.0, b.level - rate * static_cast<double>((now - b.at).ns)) + bytes;
  b.at = now;
  // One packet may start while a single byte of budget is left.
  const double allowed = static_cast<double>(options_.tuning.budget_burst_bytes) + 2 * 4352;
  if (b.level > allowed) complain("injected more than budget and burst", now);
}

void Watch::restarted() {
  groups_.clear();
  for (auto& [key, f] : flows_) {
    f.unanswered.clear();
    f.next.clear();
  }
}

void Watch::leaves(const OutItem& item, Instant now) {
  if (!item.packet) return;
  // C12: a pause belongs to one link.
  if (item.cause != Cause::kPause && ether_type(item.packet->bytes()) == kEtherTypePause)
    complain("a pause was forwarded", now);
  const ParseResult p = parse_frame(item.packet->bytes());
  if (p.kind != ParseKind::kRoce || p.reason != Reason::kNone) return;
  const OpcodeInfo& i = p.frame.info();
  if (item.side == Side::kLan) {
    if (item.cause == Cause::kPseudoAck || item.cause == Cause::kPseudoNak) check_pseudo(p.frame, now);
    if (i.response && p.frame.opcode() != op::kRcAck) note_response(p.frame);
    return;
  }
  if (i.request && (item.cause == Cause::kFirst || item.cause == Cause::kCustodyResend ||
                    item.cause == Cause::kReadRetry || item.cause == Cause::kDuplicateForwarded)) {
    charge(p.frame, item.packet->size, now);
  }
}

}  // namespace matchrdma::swarm
