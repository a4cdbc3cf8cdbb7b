// Two model hosts, every impairment, many seeds: the oracle must not complain about itself.
#include <gtest/gtest.h>

#include "model/audit.h"
#include "model/test_net.h"
#include "model/workload.h"

namespace matchrdma::model {
namespace {

SpanConfig random_span(Prng& prng) {
  SpanConfig c;
  c.delay = Duration::micros(prng.between(1, 500));
  if (prng.chance(0.7)) c.rate = Rate{prng.between(1, 100) * 1'000'000'000};
  if (c.rate.bps > 0 && prng.chance(0.3)) c.queue_bytes = prng.between(20'000, 500'000);
  if (prng.chance(0.6)) c.loss = 0.08 * prng.unit();
  if (prng.chance(0.5)) c.duplicate = 0.05 * prng.unit();
  if (prng.chance(0.5)) c.reorder = 0.05 * prng.unit();
  c.reorder_extra = Duration::micros(prng.between(1, 300));
  if (prng.chance(0.5)) c.corrupt = 0.04 * prng.unit();
  if (prng.chance(0.2)) {
    const Instant from{prng.between(0, 5'000'000)};
    c.cuts.push_back({from, from + Duration::micros(prng.between(1, 3000))});
  }
  return c;
}

RequesterConfig random_requester(Prng& prng) {
  RequesterConfig c;
  static constexpr int64_t kWindows[] = {0, 1, 7, 64, 128, 512};
  static constexpr int64_t kAckEvery[] = {1, 4, 64, 256};
  c.window_psns = kWindows[prng.below(6)];
  c.ack_every = kAckEvery[prng.below(4)];
  c.timeout = Duration::micros(prng.between(3000, 9000));
  c.exponential_timeout = prng.chance(0.3);
  c.retry_count = kRetryUnlimited;
  c.max_rd_atomic = static_cast<int>(prng.between(1, 8));
  return c;
}

ResponderConfig random_responder(Prng& prng) {
  ResponderConfig c;
  c.ack = static_cast<AckPolicy>(prng.below(3));
  c.ack_delay = Duration::micros(prng.between(1, 100));
  if (prng.chance(0.5)) c.receive_queue = prng.between(1, 6);
  c.refill_every = Duration::micros(prng.between(1, 600));
  c.refill_batch = prng.between(1, 4);
  c.advertise_credits = prng.chance(0.5);
  c.credit_updates = prng.chance(0.7);
  c.rnr_timer = static_cast<uint8_t>(prng.between(1, 12));
  c.nak_after_rnr = prng.chance(0.7);
  return c;
}

PairConfig random_pair(Prng& prng, uint32_t n) {
  static constexpr uint32_t kMtus[] = {256, 512, 1024, 2048, 4096};
  PairConfig p;
  p.path = test_path();
  p.path.udp_source_port = static_cast<uint16_t>(0xc000 + n);
  p.qpn_a = Qpn{0x11 + 2 * n};
  p.qpn_b = Qpn{0x12 + 2 * n};
  // Often near the end of the PSN space: the wrap must be passed.
  p.start_a = Psn{static_cast<uint32_t>(prng.chance(0.5) ? 0xffffff - prng.below(200) : prng.below(0x1000000))};
  p.start_b = Psn{static_cast<uint32_t>(prng.chance(0.5) ? 0 : prng.below(0x1000000))};
  p.path_mtu = kMtus[prng.below(5)];
  p.requester_a = random_requester(prng);
  p.requester_b = random_requester(prng);
  p.responder_a = random_responder(prng);
  p.responder_b = random_responder(prng);
  p.requester_a.use_credits = p.responder_b.advertise_credits;
  p.requester_b.use_credits = p.responder_a.advertise_credits;
  p.seed = prng.next() >> 8;
  p.memory_a.key = prng.next();
  p.memory_b.key = prng.next();
  return p;
}

void post_all(Prng& prng, Qp& qp, const MemoryConfig& remote, uint32_t mtu) {
  WorkloadConfig w;
  w.path_mtu = mtu;
  w.max_length = mtu * 12;
  const int64_t n = prng.between(0, 24);
  for (int64_t i = 0; i < n; ++i) qp.requester.post(random_work(prng, w, remote), Instant{});
}

/// What the seeds together must have provoked, or the swarm tests less than it claims.
struct Coverage {
  uint64_t retransmitted = 0, sequence_naks = 0, rnr_naks = 0, implied_naks = 0, timeouts = 0, stale = 0;
  uint64_t replayed_reads = 0, replayed_atomics = 0, duplicates = 0, bad_icrc = 0;
  void add(const QpPair& p) {
    for (const Qp* qp : {p.a, p.b}) {
      const RequesterStats& r = qp->requester.stats();
      const ResponderStats& s = qp->responder.stats();
      retransmitted += r.retransmitted;
      sequence_naks += r.sequence_naks;
      rnr_naks += r.rnr_naks;
      implied_naks += r.implied_naks;
      timeouts += r.timeouts;
      stale += r.stale;
      replayed_reads += s.replayed_reads;
      replayed_atomics += s.replayed_atomics;
      duplicates += s.duplicates;
    }
  }
};

void run_seed(uint64_t seed, Coverage& coverage) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Prng prng(seed);
  HostConfig host;
  if (prng.chance(0.7)) host.tx_rate = Rate{prng.between(1, 100) * 1'000'000'000};
  const SpanConfig there = random_span(prng), back = random_span(prng);
  TestNet net(host, there, back, seed);
  std::vector<QpPair> pairs;
  const int64_t n = prng.between(1, 3);
  for (int64_t i = 0; i < n; ++i) {
    const PairConfig c = random_pair(prng, static_cast<uint32_t>(i));
    pairs.push_back(connect(net.a, net.b, c));
    post_all(prng, *pairs.back().a, c.memory_b, c.path_mtu);
    post_all(prng, *pairs.back().b, c.memory_a, c.path_mtu);
  }
  const bool done = net.run(Duration::seconds(600));
  for (const QpPair& p : pairs) {
    ASSERT_EQ(audit(p, {.complete = done}, net.now), "") << net.history();
    ASSERT_TRUE(done) << net.history();
    coverage.add(p);
  }
  coverage.bad_icrc += net.a.stats().bad_icrc + net.b.stats().bad_icrc;
}

TEST(ModelSwarm, RightBytesOnceInOrderUnderEveryImpairment) {
  Coverage c;
  for (uint64_t seed = 1; seed <= 800 && !testing::Test::HasFailure(); ++seed) run_seed(seed, c);
  for (const uint64_t n : {c.retransmitted, c.sequence_naks, c.rnr_naks, c.implied_naks, c.timeouts, c.stale,
                           c.replayed_reads, c.replayed_atomics, c.duplicates, c.bad_icrc})
    EXPECT_GT(n, 500u);
}

/// A long run of one clean pair: nothing is sent twice when nothing is lost.
TEST(ModelSwarm, CleanPathSendsNothingTwice) {
  SpanConfig span;
  span.delay = Duration::micros(500);
  span.rate = Rate{100'000'000'000};
  TestNet net({.tx_rate = Rate{50'000'000'000}}, span, span, 1);
  PairConfig c;
  c.path = test_path();
  const QpPair p = connect(net.a, net.b, c);
  Prng prng(5);
  for (int i = 0; i < 200; ++i)
    p.a->requester.post(random_work(prng, WorkloadConfig{.max_length = 60'000}, c.memory_b), net.now);
  ASSERT_TRUE(net.run(Duration::seconds(60)));
  EXPECT_EQ(p.a->requester.stats().retransmitted, 0u);
  EXPECT_EQ(p.a->requester.stats().timeouts, 0u);
  EXPECT_EQ(audit(p, {}, net.now), "");
}

/// The same seed gives the same run.
TEST(ModelSwarm, Deterministic) {
  std::string first;
  for (int i = 0; i < 2; ++i) {
    Prng prng(77);
    const SpanConfig span = random_span(prng);
    TestNet net({.tx_rate = Rate{10'000'000'000}}, span, span, 3);
    const PairConfig c = random_pair(prng, 0);
    const QpPair p = connect(net.a, net.b, c);
    post_all(prng, *p.a, c.memory_b, c.path_mtu);
    ASSERT_TRUE(net.run(Duration::seconds(600)));
    if (i == 0)
      first = net.history();
    else
      EXPECT_EQ(net.history(), first);
  }
}

}  // namespace
}  // namespace matchrdma::model
