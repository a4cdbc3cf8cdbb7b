#include "sim/swarm/stranger.h"

#include <algorithm>

#include "dataplane/wire/frame.h"
#include "dataplane/wire/frame_builder.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/pause_frame.h"

namespace matchrdma::swarm {
namespace {

// After any change: what is a RoCEv2 packet still must not pass for a sound one.
void break_icrc(Packet& p) {
  const ParseResult r = parse_frame({p.data, p.size});
  if (r.kind == ParseKind::kRoce && icrc_ok(r.frame)) p.data[r.frame.icrc_offset()] ^= 0xff;
}

}  // namespace

PacketRef Stranger::copy(Bytes b) {
  PacketRef p = pool_.alloc(static_cast<uint32_t>(b.size()));
  if (p) std::copy(b.begin(), b.end(), p->data);
  return p;
}

void Stranger::overhear(Bytes frame) {
  if (!prng_.chance(0.1)) return;
  if (overheard_.size() < kKept) overheard_.emplace_back();
  overheard_[next_++ % kKept].assign(frame.begin(), frame.end());
}

PacketRef Stranger::noise() {
  PacketRef p = pool_.alloc(static_cast<uint32_t>(prng_.between(1, 300)));
  if (!p) return p;
  for (uint32_t i = 0; i < p->size; ++i) p->data[i] = static_cast<uint8_t>(prng_.below(256));
  return p;
}

PacketRef Stranger::torn() {
  const auto& whole = overheard_[prng_.below(overheard_.size())];
  return copy(Bytes(whole.data(), 1 + prng_.below(whole.size() - 1)));
}

PacketRef Stranger::spoiled() {
  PacketRef p = copy(overheard_[prng_.below(overheard_.size())]);
  if (!p) return p;
  for (int64_t i = prng_.between(1, 4); i > 0; --i)
    p->data[prng_.below(p->size)] ^= static_cast<uint8_t>(1 + prng_.below(255));
  break_icrc(*p);
  return p;
}

// BTH fields of choice: opcode, destination QP and PSN.
PacketRef Stranger::forged() {
  PacketRef p = copy(overheard_[prng_.below(overheard_.size())]);
  if (!p) return p;
  const ParseResult r = parse_frame(p->bytes());
  if (r.kind != ParseKind::kRoce) return p;
  uint8_t* bth = p->data + r.frame.bth_offset();
  if (prng_.chance(0.5)) bth[0] = static_cast<uint8_t>(prng_.below(256));
  if (prng_.chance(0.3)) bth[7] = static_cast<uint8_t>(prng_.below(256));
  if (prng_.chance(0.7)) bth[11] = static_cast<uint8_t>(prng_.below(256));
  if (prng_.chance(0.3)) bth[9] = static_cast<uint8_t>(prng_.below(256));
  break_icrc(*p);
  return p;
}

PacketRef Stranger::pause() {
  return build_pause_frame({2, 0, 0, 0, 0, 0x66}, static_cast<uint8_t>(prng_.below(256)), 0xffff, pool_);
}

PacketRef Stranger::packet() {
  const uint64_t kind = overheard_.empty() ? prng_.below(2) : prng_.below(8);
  switch (kind) {
    case 0:
      return pause();
    case 1:
      return noise();
    case 2:
    case 3:
      return torn();
    case 4:
    case 5:
      return spoiled();
    default:
      return forged();
  }
}

PacketRef ack_out_of_range(const FlowKey& flow, Qpn sender, int64_t highest_end, Prng& prng, PacketPool& pool) {
  L2L3 l;
  l.src = flow.dst;
  l.dst = flow.src;
  l.mac_src = {2, 0, 0, 0, 0, 0x66};
  l.udp_source_port = 0xc666;
  l.vlan_tags = (flow.vlan_outer != 0 ? 1 : 0) + (flow.vlan_inner != 0 ? 1 : 0);
  l.vlan_tci = {flow.vlan_outer, flow.vlan_inner};
  RoceSpec r;
  r.opcode = op::kRcAck;
  r.dest_qp = sender;
  r.psn = wire_psn(highest_end + prng.between(1000, 1'000'000));
  r.syndrome = 31;
  r.msn = Msn{static_cast<uint32_t>(prng.below(1 << 24))};
  return build_roce(l, r, pool);
}

}  // namespace matchrdma::swarm
