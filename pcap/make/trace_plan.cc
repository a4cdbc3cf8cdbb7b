#include "pcap/make/trace_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "dataplane/base/prng.h"
#include "dataplane/wire/source_port.h"
#include "model/source_port.h"

namespace matchrdma {
namespace {

constexpr uint8_t kDataClass = 26 << 2 | 2;  ///< DSCP 26, ECT(0)
constexpr uint16_t kDataPriority = 3;
constexpr uint8_t kHopLimit = 64, kHopsOfSpan = 3;
constexpr int64_t kMaxPackets = 1 << 22;  ///< window of the requester

constexpr uint32_t kSmallMemory = 4096;  ///< enough for clear-to-send

/// A stream of chance of its own for every purpose, so that one option does not change what another draws.
Prng chance(uint64_t seed, uint64_t purpose, uint64_t serial) {
  return Prng(seed * 0x9e3779b97f4a7c15ull ^ (purpose << 56) ^ serial);
}

}  // namespace

TracePlan::TracePlan(const TraceRecipe& r) : r_(r) {
  Prng prng = chance(r.seed, 1, 0);
  fixed_port_ = static_cast<uint16_t>(0xc000 | prng.below(0x4000));
  choose_qpns();
  choose_hidden();
}

void TracePlan::choose_qpns() {
  for (const size_t side : {0u, 1u})
    for (uint32_t h = 0; h < r_.hosts; ++h) {
      Prng prng = chance(r_.seed, 2, uint64_t{h} * 2 + side);
      std::vector<Qpn> all;
      std::set<uint32_t> taken{0, 1};  // of the subnet manager and of CM
      uint32_t next = 0x11 + static_cast<uint32_t>(prng.below(0x1000));
      while (all.size() < r_.qps) {
        const uint32_t q =
            r_.qpn == TraceQpn::kSequential ? next++ : static_cast<uint32_t>(prng.below(Psn::kMask));
        if (taken.insert(q).second) all.push_back(Qpn{q});
      }
      qpns_[side].push_back(std::move(all));
    }
}

void TracePlan::choose_hidden() {
  const size_t n = size_t{r_.hosts} * r_.qps;
  hidden_.assign(n, false);
  auto left = static_cast<size_t>(r_.hide * static_cast<double>(n) + 0.5);
  Prng prng = chance(r_.seed, 3, 0);
  for (size_t i = 0; i < n && left > 0; ++i)
    if (prng.below(n - i) < left) {
      hidden_[i] = true;
      --left;
    }
}

uint64_t TracePlan::serial(uint32_t host_pair, uint32_t life, uint32_t index) const {
  return (uint64_t{life} * r_.hosts + host_pair) * r_.qps + index;
}

L2L3 TracePlan::path(uint32_t host_pair, int side) const {
  L2L3 l;
  const auto number = static_cast<uint8_t>(host_pair + 1);
  const auto from = static_cast<uint8_t>(side + 1), to = static_cast<uint8_t>(2 - side);
  l.mac_src = {2, 0, 0, 0, number, from};  // ends in 1 at site A, in 2 at site B
  l.mac_dst = {2, 0, 0, 0, number, to};
  if (r_.ipv6) {
    std::array<uint8_t, 16> a{0xfd, 0, 0, 0, 0, 0, 0, from, 0, 0, 0, 0, 0, 0, 0, number};
    l.src = IpAddress::v6(a.data());
    a[7] = to;
    l.dst = IpAddress::v6(a.data());
  } else {
    std::array<uint8_t, 4> a{10, from, 0, number};
    l.src = IpAddress::v4(a.data());
    a[1] = to;
    l.dst = IpAddress::v4(a.data());
  }
  l.traffic_class = kDataClass;
  // As the tap sees it: what comes from the far site has passed the routers of the span.
  const bool far = (side == 0) != (r_.tap == TraceTap::kA);
  l.hop_limit = far && r_.distance_km > 0 ? kHopLimit - kHopsOfSpan : kHopLimit;
  l.vlan_tags = static_cast<int>(r_.vlans.size());
  for (size_t i = 0; i < r_.vlans.size(); ++i)
    l.vlan_tci[i] = static_cast<uint16_t>(kDataPriority << 13 | r_.vlans[i]);
  if (l.vlan_tags == 2) l.vlan_tpid[0] = 0x88a8;  // IEEE 802.1ad
  return l;
}

uint16_t TracePlan::port(const TracePair& p, uint64_t serial, int side) const {
  switch (r_.source_port) {
    case TracePort::kFixed:
      return fixed_port_;
    case TracePort::kOwnQpn:
      return static_cast<uint16_t>(side == 0 ? p.a.qpn.v : p.b.qpn.v);
    case TracePort::kPerQp: {
      Prng prng = chance(r_.seed, 4, serial);
      return static_cast<uint16_t>(0xc000 | prng.below(0x4000));
    }
    default:
      return hashed_source_port(p.a.qpn, p.b.qpn);
  }
}

std::vector<TracePair> TracePlan::connections(uint32_t host_pair, uint32_t life) const {
  std::vector<TracePair> all;
  for (uint32_t i = 0; i < r_.qps; ++i) {
    const uint64_t n = serial(host_pair, life, i);
    Prng prng = chance(r_.seed, 5, n);
    TracePair p;
    p.host_pair = host_pair;
    p.life = life;
    p.path_mtu = r_.path_mtu;
    p.vlan_outer = r_.vlans.empty() ? uint16_t{0} : r_.vlans[0];
    p.vlan_inner = r_.vlans.size() < 2 ? uint16_t{0} : r_.vlans[1];
    p.a.qpn = qpns_[0][host_pair][i];
    p.b.qpn = qpns_[1][host_pair][(i + life) % r_.qps];
    for (const int side : {0, 1}) {
      TraceEnd& e = p.end(side);
      e.ip = path(host_pair, side).src;
      if (r_.psn == TracePsn::kRandom) e.start = Psn{static_cast<uint32_t>(prng.next()) & Psn::kMask};
      e.udp_port = port(p, n, side);
      const bool own =
          side == 0 ? r_.hide_direction != TraceHidden::kFromB : r_.hide_direction != TraceHidden::kFromA;
      e.visible = !(hidden_[size_t{host_pair} * r_.qps + i] && own);
    }
    all.push_back(p);
  }
  return all;
}

model::PairConfig TracePlan::config(const TracePair& p, uint32_t index) const {
  const uint64_t n = serial(p.host_pair, p.life, index);
  Prng prng = chance(r_.seed, 6, n);
  model::PairConfig c;
  c.path = path(p.host_pair, 0);
  c.path.udp_source_port = p.a.udp_port;
  c.b_source_port = p.b.udp_port;
  c.b_hop_limit = path(p.host_pair, 1).hop_limit;
  c.qpn_a = p.a.qpn;
  c.qpn_b = p.b.qpn;
  c.start_a = p.a.start;
  c.start_b = p.b.start;
  c.path_mtu = p.path_mtu;
  c.seed = prng.next() >> 2;
  model::RequesterConfig rq = model::mlx5_requester();
  rq.window_psns = kMaxPackets;
  rq.retry_count = model::kRetryUnlimited;  // losses are to end in go-back-N, not in a dead queue pair
  rq.max_rd_atomic = 16;
  const Duration rtt = (one_way(r_) + r_.lan_latency * 2) * 2;
  if (rq.timeout < rtt * 4) rq.timeout = rtt * 4;
  c.requester_a = c.requester_b = rq;
  c.responder_a.log = c.responder_b.log = false;
  c.responder_a.atomic_resources = c.responder_b.atomic_resources = 64;
  for (const int side : {0, 1}) {
    model::MemoryConfig* m = side == 0 ? &c.memory_a : &c.memory_b;
    m->base = 0x7f0000000000 + (prng.below(1 << 16) << 24);
    const bool bulk = r_.pattern == TracePattern::kMixed || side != sending_side(r_, index);
    m->size = std::max(kSmallMemory, bulk ? kSlots * message_bytes(r_) : 0);
    m->rkey = static_cast<uint32_t>(prng.next());
    m->key = prng.next();
  }
  return c;
}

uint32_t TracePlan::cm_id(const TracePair& p, uint32_t index, int side) const {
  Prng prng = chance(r_.seed, 7, 0);
  return static_cast<uint32_t>(prng.next()) + static_cast<uint32_t>(serial(p.host_pair, p.life, index)) * 2 +
         static_cast<uint32_t>(side);
}

model::CmEndpoint TracePlan::cm_endpoint(const TracePair& p, uint32_t index, int side) const {
  model::CmEndpoint e;
  e.path = path(p.host_pair, side);
  e.path.traffic_class = 0;
  e.path.udp_source_port = model::kCmSourcePort;
  e.local_id = cm_id(p, index, side);
  if (side == 1) e.expected_id = cm_id(p, index, 0);
  e.qpn = side == 0 ? p.a.qpn : p.b.qpn;
  e.start = side == 0 ? p.b.start : p.a.start;
  e.path_mtu = p.path_mtu;
  return e;
}

}  // namespace matchrdma
