// Learner 3 of PROTOCOL 3: an orchestrator or the host library names a QP pair.
#include "dataplane/shard/impl.h"
#include "dataplane/source/activate.h"

namespace matchrdma {
namespace {

bool plausible(const Registration& r) {
  const bool mtu =
      r.path_mtu == 256 || r.path_mtu == 512 || r.path_mtu == 1024 || r.path_mtu == 2048 || r.path_mtu == 4096;
  return mtu && r.a.qpn.v <= 0xffffff && r.b.qpn.v <= 0xffffff && !(r.a.ip == r.b.ip && r.a.qpn == r.b.qpn);
}

FlowKey key_of(const Registration& r, bool from_a) {
  const Registration::End& from = from_a ? r.a : r.b;
  const Registration::End& to = from_a ? r.b : r.a;
  return {from.ip, to.ip, to.qpn, r.vlan_outer, r.vlan_inner, r.port_pair};
}

}  // namespace

FlowIndex Shard::Impl::learn_flow(const Registration& reg, bool from_a, bool source_here) {
  const FlowKey key = key_of(reg, from_a);
  const Registration::End& from = from_a ? reg.a : reg.b;
  const FlowIndex i = table.insert(key);
  if (i == kNoFlow || i < records.size()) return i;
  FlowRecord& r = records.emplace_back();
  if (source_here) {
    r.source = std::make_unique<SourceFlow>(source_pools);
    SourceFlow& f = *r.source;
    f.key = key;
    f.index = i;
    f.sender_qpn = from.qpn;
    f.path_mtu = reg.path_mtu;
    f.completion = reg.completion;
    f.credits_used = reg.credits;
    f.has_start = from.has_start;
    f.start = from.start;
    f.start_msn = from.msn;
  } else {
    r.destination = std::make_unique<DestinationFlow>(destination_pools);
    DestinationFlow& f = *r.destination;
    f.key = key;
    f.index = i;
    f.sender_qpn = from.qpn;
    f.path_mtu = reg.path_mtu;
  }
  return i;
}

bool Shard::Impl::learn(const Registration& reg, bool local_a) {
  if (!plausible(reg)) return false;
  for (const bool from_a : {true, false}) {
    const FlowIndex known = table.find(key_of(reg, from_a));
    if (known == kNoFlow) continue;
    const FlowRecord& r = records[known];
    const Qpn sender = r.source ? r.source->sender_qpn : r.destination->sender_qpn;
    const bool same_side = (r.source != nullptr) == (from_a == local_a);
    if (sender != (from_a ? reg.a : reg.b).qpn || !same_side) return false;
  }
  if (table.size() + 2 > config.limits.max_flows && table.find(key_of(reg, true)) == kNoFlow) {
    n.reasons.add(Reason::kFlowLimit);
    return false;
  }
  const FlowIndex ab = learn_flow(reg, true, local_a);
  const FlowIndex ba = learn_flow(reg, false, !local_a);
  records[ab].reverse = ba;
  records[ba].reverse = ab;
  return true;
}

void Shard::Impl::open_started(const Registration& reg, const RoleCtx& ctx) {
  if (reg.completion == Completion::kTransparent) return;
  for (const bool from_a : {true, false}) {
    const FlowIndex i = table.find(key_of(reg, from_a));
    FlowRecord* r = record(i);
    if (r == nullptr || !r->source || !r->source->has_start || r->source->state != FlowState::kPaired) continue;
    open(*r->source, ctx);
  }
}

bool Shard::register_qp(const Registration& reg, bool local_a, Instant now, Outbox& out) {
  // A registration always names the caller's own end first on the wire, so that the peer knows its side.
  Registration mine = reg;
  if (!local_a) std::swap(mine.a, mine.b);
  const RoleCtx ctx = impl_->context(now, out);
  if (!impl_->learn(mine, true)) return false;
  for (const Impl::Pending& p : impl_->registrations) {
    if (p.reg == mine) return true;
  }
  impl_->registrations.push_back({mine, false, now + ctx.rtt + ctx.rtt / 2 + ctx.timing->handshake_retry_min});
  out.message(RegisterQp{mine});
  return true;
}

bool Shard::registered(const Registration& reg) const {
  for (const bool swapped : {false, true}) {
    Registration mine = reg;
    if (swapped) std::swap(mine.a, mine.b);
    for (const bool from_a : {true, false}) {
      const FlowIndex i = impl_->table.find(key_of(mine, from_a));
      if (i == kNoFlow) return false;
      const FlowRecord& r = impl_->records[i];
      if (r.source && r.source->has_start && reg.completion != Completion::kTransparent &&
          r.source->state != FlowState::kActive) {
        return false;
      }
    }
    for (const Impl::Pending& p : impl_->registrations) {
      if (p.reg == mine && !p.answered) return false;
    }
  }
  return true;
}

}  // namespace matchrdma
