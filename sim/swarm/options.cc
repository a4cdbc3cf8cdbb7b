#include "sim/swarm/options.h"

#include "sim/swarm/draws.h"

namespace matchrdma::swarm {
namespace {

model::SpanConfig random_span(Prng& r, Duration delay, double scale) {
  model::SpanConfig c;
  c.delay = delay;
  if (r.chance(0.5)) c.rate = Rate{r.between(10, 100) * 1'000'000'000};
  if (r.chance(0.6)) c.loss = scale * r.unit();
  if (r.chance(0.4)) c.duplicate = scale * r.unit();
  if (r.chance(0.4)) c.reorder = scale * r.unit();
  c.reorder_extra = Duration::micros(r.between(1, 40));
  if (r.chance(0.3)) c.corrupt = scale * r.unit() / 2;
  return c;
}

model::RequesterConfig random_requester(Prng& r, Duration rtt) {
  static constexpr int64_t kWindows[] = {0, 7, 64, 128, 512};
  static constexpr int64_t kAckEvery[] = {1, 4, 64, 256};
  model::RequesterConfig c;
  c.window_psns = kWindows[r.below(5)];
  c.ack_every = kAckEvery[r.below(4)];
  c.timeout = rtt * 3 + Duration::micros(r.between(2000, 9000));
  c.exponential_timeout = r.chance(0.3);
  c.retry_count = model::kRetryUnlimited;
  c.max_rd_atomic = static_cast<int>(r.between(1, 8));
  return c;
}

model::ResponderConfig random_responder(Prng& r) {
  model::ResponderConfig c;
  c.ack = static_cast<model::AckPolicy>(r.below(3));
  c.ack_delay = Duration::micros(r.between(1, 100));
  if (r.chance(0.4)) c.receive_queue = r.between(1, 6);
  c.refill_every = Duration::micros(r.between(1, 600));
  c.refill_batch = r.between(1, 4);
  c.advertise_credits = r.chance(0.3);
  c.credit_updates = r.chance(0.7);
  c.rnr_timer = static_cast<uint8_t>(r.between(1, 12));
  c.nak_after_rnr = r.chance(0.7);
  return c;
}

L2L3 path(uint32_t n, Prng& r) {
  L2L3 l;
  const uint8_t a[4] = {10, 0, 0, 1}, b[4] = {10, 0, 0, 2};
  uint8_t a6[16] = {0xfd, 9}, b6[16] = {0xfd, 9};
  a6[15] = 1;
  b6[15] = 2;
  const bool v6 = r.chance(0.3);
  l.src = v6 ? IpAddress::v6(a6) : IpAddress::v4(a);
  l.dst = v6 ? IpAddress::v6(b6) : IpAddress::v4(b);
  l.mac_src = {2, 0, 0, 0, 0, 1};
  l.mac_dst = {2, 0, 0, 0, 0, 2};
  l.traffic_class = static_cast<uint8_t>(26 << 2 | r.below(3));
  l.udp_source_port = static_cast<uint16_t>(0xc000 + n);
  l.vlan_tags = static_cast<int>(r.below(3));
  l.vlan_tci = {static_cast<uint16_t>(100), static_cast<uint16_t>(200)};
  return l;
}

// Budgets that follow what the receivers take, which changes.
void add_estimator(Options& o, Prng& r) {
  EstimatorSettings e;
  e.slot = o.tuning.slot = Duration::micros(r.between(50, 2000));
  e.line_rate = Rate{r.between(200, 100'000) * 1'000'000};
  e.scheme = r.chance(0.2) ? Scheme::kPaper : Scheme::kEarned;
  e.queue_target = o.tuning.queue_target = static_cast<uint64_t>(r.between(4, 256)) << 10;
  o.estimator = e;
  o.budget_loss = r.chance(0.3) ? 0.2 : 0;
  if (r.chance(0.5)) {
    o.low_egress = Rate{r.between(50, 1000) * 1'000'000};
    o.wave = Duration::micros(r.between(500, 50'000));
  }
}

}  // namespace

PairOptions random_pair(Prng& r, uint32_t n, Duration rtt) {
  static constexpr uint32_t kMtus[] = {256, 1024, 4096};
  PairOptions o;
  model::PairConfig& p = o.pair;
  p.path = path(n, r);
  // Often equal numbers at both ends, as with rdma_cm: maps are per direction.
  p.qpn_a = Qpn{0x11 + 2 * n};
  p.qpn_b = r.chance(0.5) ? p.qpn_a : Qpn{0x111 + 2 * n};
  p.start_a = Psn{static_cast<uint32_t>(r.chance(0.5) ? 0xffffff - r.below(200) : r.below(0x1000000))};
  p.start_b = Psn{static_cast<uint32_t>(r.chance(0.5) ? 0 : r.below(0x1000000))};
  p.path_mtu = kMtus[r.below(3)];
  p.requester_a = random_requester(r, rtt);
  p.requester_b = random_requester(r, rtt);
  p.responder_a = random_responder(r);
  p.responder_b = random_responder(r);
  p.requester_a.use_credits = p.responder_b.advertise_credits;
  p.requester_b.use_credits = p.responder_a.advertise_credits = p.responder_b.advertise_credits;
  p.seed = r.next() >> 8;
  p.memory_a.key = r.next();
  p.memory_b.key = r.next();
  o.completion = r.chance(0.3) ? Completion::kEndToEnd : Completion::kEarly;
  o.join = r.chance(0.7) ? Join::kFresh : (r.chance(0.8) ? Join::kMidFlow : Join::kNever);
  o.work_a = r.between(1, 14);
  o.work_b = r.chance(0.4) ? r.between(0, 8) : 0;
  o.max_length = p.path_mtu * static_cast<uint32_t>(r.between(1, 12));
  o.reads = r.chance(0.5);
  o.atomics = r.chance(0.5);
  o.post_every = r.chance(0.5) ? Duration::micros(r.between(1, 3000)) : Duration{};
  if (o.join == Join::kMidFlow) o.post_every = Duration::micros(r.between(500, 8000));
  if (r.chance(0.04)) {
    o.fatal = static_cast<uint8_t>(kNakInvalidRequest + r.below(3));
    // The one NAK of a dying receiver may be lost; its peer must end all the same.
    p.requester_a.retry_count = p.requester_b.retry_count = 7;
  }
  return o;
}

void make_clean(Options& o) {
  const Options plain;
  for (model::SpanConfig* s : {&o.wan, &o.control, &o.lan}) {
    s->loss = s->duplicate = s->reorder = s->corrupt = 0;
    s->cuts.clear();
  }
  o.restart_at = Instant::never();
  o.limits.custody_hard_bytes = plain.limits.custody_hard_bytes;
  o.limits.custody_soft_bytes = plain.limits.custody_soft_bytes;
  o.limits.reorder_memory = plain.limits.reorder_memory;
  for (PairOptions& p : o.pairs) {
    p.fatal = 0;
    p.pair.responder_a.receive_queue = p.pair.responder_b.receive_queue = -1;
  }
  o.clean = true;
}

Options random_options(uint64_t seed) {
  Prng r(seed);
  Options o;
  o.seed = seed;
  const Duration delay = Duration::micros(r.chance(0.7) ? r.between(20, 1000) : r.between(1000, 6000));
  o.wan = random_span(r, delay, 0.05);
  o.wan.reorder_extra = Duration::micros(r.between(1, 45));  // below Timing::reorder_window
  o.control = random_span(r, delay, 0.05);
  o.lan = random_span(r, Duration::micros(r.between(1, 5)), r.chance(0.4) ? 0.02 : 0.0);
  if (r.chance(0.7)) o.host.tx_rate = Rate{r.between(1, 100) * 1'000'000'000};
  if (r.chance(0.3)) {
    const Instant from{r.between(0, 20'000'000)};
    // Some outlast the peer's time-out.
    o.wan.cuts.push_back(
        {from, from + Duration::micros(r.chance(0.8) ? r.between(1, 20'000) : r.between(20'000, 600'000))});
    o.control.cuts = o.wan.cuts;
  }
  o.transparent = r.chance(0.05);
  if (r.chance(0.6)) o.tuning.budget = Rate{r.between(100, 50'000) * 1'000'000};
  o.tuning.budget_burst_bytes = static_cast<uint64_t>(r.between(4, 256)) << 10;
  if (r.chance(0.3)) o.tuning.egress = Rate{r.between(500, 50'000) * 1'000'000};
  o.tuning.ack_every = static_cast<uint32_t>(r.between(1, 64));
  o.tuning.dest_ack_every = static_cast<uint32_t>(r.between(1, 64));
  o.timing.repair_bound = Duration::seconds(5);
  o.timing.custody_max_age = Duration::seconds(8);
  o.timing.initial_rtt = Duration::millis(r.between(1, 12));
  if (r.chance(0.2)) {
    o.limits.custody_hard_bytes = static_cast<uint64_t>(r.between(20, 200)) << 10;
    o.limits.custody_soft_bytes = o.limits.custody_hard_bytes / 2;
    o.limits.reserve_bytes_per_flow = 16 << 10;
  }
  if (r.chance(0.2)) o.limits.reorder_memory = static_cast<uint64_t>(r.between(64, 512)) << 10;
  if (r.chance(0.2)) o.limits.confirmed_per_flow = static_cast<uint32_t>(r.between(1, 32));
  o.limits.max_flows = 64;
  o.limits.max_owning_flows = 64;
  o.limits.custody_packets = o.limits.held_packets = 1 << 14;
  o.limits.confirmed_entries = 1 << 12;
  o.limits.max_groups = 16;
  const int64_t pairs = r.between(1, 3);
  for (int64_t n = 0; n < pairs; ++n) o.pairs.push_back(random_pair(r, static_cast<uint32_t>(n), delay * 2));
  if (!o.transparent && r.chance(0.15)) {
    o.restart_at = Instant{r.between(0, 30'000'000)};
    o.restart_for = Duration::micros(r.chance(0.5) ? r.between(0, 2'000) : r.between(2'000, 100'000));
    for (PairOptions& p : o.pairs) p.work_b = 0;
  }
  if (r.chance(0.5)) o.proxy_age = Duration::millis(r.between(0, 10'000'000));
  if (r.chance(0.1)) make_clean(o);
  if (r.chance(0.4)) add_estimator(o, r);
  return o;
}

}  // namespace matchrdma::swarm
