// What a swarm adds to a schedule. It draws from a stream of its own, so that the schedule below stays what its
// seed has always meant.
#include <algorithm>

#include "sim/swarm/draws.h"

namespace matchrdma::swarm {
namespace {

constexpr uint64_t kStream = 0x5713a9;

void set_host(L2L3& path, IpAddress L2L3::*ip, std::array<uint8_t, 6> L2L3::*mac, uint32_t host) {
  // Host 0 keeps the addresses of a schedule with one host: 10.0.0.x, fd09::x.
  (path.*ip).b[14] = static_cast<uint8_t>(host);
  (path.*mac)[4] = static_cast<uint8_t>(host);
}

void add_topology(Options& o, Prng& r) {
  o.hosts = static_cast<uint32_t>(r.between(1, 4));
  const int64_t more = r.between(0, 5);
  const auto first = static_cast<uint32_t>(o.pairs.size());
  for (uint32_t n = first; n < first + more; ++n) o.pairs.push_back(random_pair(r, n, o.wan.delay * 2));
  for (PairOptions& p : o.pairs) {
    p.host_a = static_cast<uint32_t>(r.below(o.hosts));
    p.host_b = static_cast<uint32_t>(r.below(o.hosts));
    set_host(p.pair.path, &L2L3::src, &L2L3::mac_src, p.host_a);
    set_host(p.pair.path, &L2L3::dst, &L2L3::mac_dst, p.host_b);
    if (!o.restart_at.is_never()) p.work_b = 0;
  }
}

// Receivers with hardly a receive work request: nearly every message is refused many times.
void add_rnr_storm(Options& o, Prng& r) {
  const auto victim = static_cast<uint32_t>(r.below(o.hosts));
  for (PairOptions& p : o.pairs) {
    if (p.host_b != victim) continue;
    model::ResponderConfig& c = p.pair.responder_b;
    c.receive_queue = 1;
    c.refill_batch = 1;
    c.refill_every = Duration::micros(r.between(500, 5000));
    c.rnr_timer = static_cast<uint8_t>(r.between(1, 3));  // 10 to 30 us (IBA table 46)
    c.advertise_credits = p.pair.responder_a.advertise_credits = false;
    p.pair.requester_a.use_credits = p.pair.requester_b.use_credits = false;
  }
}

void add_resets(Options& o, Prng& r) {
  for (PairOptions& p : o.pairs) {
    if (p.join != Join::kFresh || p.fatal != 0 || !r.chance(0.6)) continue;
    p.reset = r.chance(0.5) ? Reset::kUnregister : Reset::kRegister;
    p.reset_at = Instant{r.between(0, 20'000'000)};
  }
}

void add_strangers(Options& o, Prng& r) {
  o.hostile.every = Duration::micros(r.between(20, 500));
  o.hostile.packets = r.between(20, 150);
  o.hostile.lan = r.chance(0.8);
  o.hostile.wan = !o.hostile.lan || r.chance(0.8);
  o.watchful = r.chance(0.5);
}

void add_small_limits(Options& o, Prng& r) {
  Limits& l = o.limits;
  const auto flows = static_cast<int64_t>(2 * o.pairs.size());
  if (r.chance(0.3)) l.max_flows = static_cast<uint32_t>(r.between(2, flows));
  if (r.chance(0.3)) l.max_groups = static_cast<uint32_t>(r.between(1, 3));
  if (r.chance(0.3)) l.custody_packets = static_cast<uint32_t>(r.between(4, 256));
  if (r.chance(0.3)) l.held_packets = static_cast<uint32_t>(r.between(4, 256));
  if (r.chance(0.3)) l.lan_gap_packets = static_cast<uint32_t>(r.between(1, 8));
  if (r.chance(0.3)) l.confirmed_entries = static_cast<uint32_t>(r.between(1, 64));
  if (r.chance(0.3)) {
    l.custody_hard_bytes = static_cast<uint64_t>(r.between(20, 100)) << 10;
    l.custody_soft_bytes = l.custody_hard_bytes / 2;
    l.reserve_bytes_per_flow = 16 << 10;
  }
  if (r.chance(0.3)) l.reorder_memory = static_cast<uint64_t>(r.between(32, 256)) << 10;
  o.scarce = l.max_flows < flows || l.max_groups < o.pairs.size();
}

// A life of the source proxy ends. Its flows all run from A to B: as a destination it may die at any time
// anyway (restart_at of the other proxy), and what its own senders were promised is what this is about.
void add_source_restart(Options& o, Prng& r) {
  o.restart_at = Instant::never();
  o.restart_a_at = Instant{r.between(0, 30'000'000)};
  o.restart_a_for = Duration::micros(r.chance(0.5) ? r.between(0, 2'000) : r.between(2'000, 100'000));
  for (PairOptions& p : o.pairs) p.work_b = 0;
}

}  // namespace

Options swarm_options(uint64_t seed) {
  Options o = random_options(seed);
  Prng r(seed ^ kStream << 32);
  add_topology(o, r);
  if (o.clean) {
    make_clean(o);
    return o;
  }
  if (r.chance(0.3)) add_rnr_storm(o, r);
  if (r.chance(0.4)) add_strangers(o, r);
  if (r.chance(0.3)) add_small_limits(o, r);
  if (r.chance(0.25)) o.control.loss = 0.05 + 0.25 * r.unit();
  if (r.chance(0.25)) o.control.corrupt = 0.2 * r.unit();
  if (o.transparent) return o;
  if (r.chance(0.25)) {
    add_source_restart(o, r);
  } else if (r.chance(0.5)) {
    add_resets(o, r);
  }
  return o;
}

}  // namespace matchrdma::swarm
