// The schemes in the network of the evaluation.
#include "sim/evaluation/world.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sim/evaluation/measure.h"
#include "sim/workload/closed_loop.h"

namespace matchrdma::sim {
namespace {

/// One leaf and one spine at each site, two hosts each.
WorldSettings small(LongHaul scheme, int64_t km) {
  WorldSettings s;
  s.scheme = scheme;
  s.topology = {.km = km, .hosts_per_leaf = 2, .leaves = 1, .spines = 1, .leaf_spine = Rate{400'000'000'000}};
  return s;
}

std::vector<std::pair<uint32_t, uint32_t>> across(const WorldSettings& s) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  const uint32_t n = s.topology.hosts_per_site();
  for (uint32_t h = 0; h < n; ++h) pairs.push_back({h, n + h});
  return pairs;
}

class Schemes : public testing::TestWithParam<LongHaul> {};

TEST_P(Schemes, DeliverEveryByteOnce) {
  for (const int64_t km : {1, 100}) {
    World w(small(GetParam(), km));
    ClosedLoop load(w.network(), {.message_bytes = 100'000, .outstanding = 4, .messages = 50},
                    across(w.settings()));
    RunMetrics m;
    ASSERT_TRUE(run(w, load, {.length = SimSpan::micros(1'000'000), .to_the_end = true}, m));
    EXPECT_TRUE(m.complete);
    for (size_t f = 0; f < load.flows(); ++f) {
      EXPECT_EQ(load.delivered_bytes(f), 50 * 100'000);
      EXPECT_EQ(load.acknowledged_bytes(f), 50 * 100'000);
      EXPECT_FALSE(w.network().host(load.flow(f).source).sender(load.flow(f).source_qp).failed());
    }
    EXPECT_EQ(m.drops, 0u);
    EXPECT_EQ(m.sent_again, 0);
  }
}

TEST_P(Schemes, SameSeedSameRun) {
  const auto fingerprint = [] {
    World w(small(GetParam(), 50));
    ClosedLoop load(w.network(), {.message_bytes = 64'000, .outstanding = 8, .messages = 40},
                    across(w.settings()));
    RunMetrics m;
    EXPECT_TRUE(run(w, load, {.length = SimSpan::micros(1'000'000), .to_the_end = true}, m));
    std::string all = std::to_string(m.events);
    for (const MessageRecord& r : load.messages()) all += ' ' + std::to_string(r.acknowledged.ps);
    return all;
  };
  EXPECT_EQ(fingerprint(), fingerprint());
}

std::string name_of(const testing::TestParamInfo<LongHaul>& info) {
  std::string n = scheme_name(info.param);
  std::erase(n, '-');
  return n;
}
INSTANTIATE_TEST_SUITE_P(All, Schemes, testing::ValuesIn(kLongHauls), name_of);

TEST(MatchRdma, SendersAreNotBoundByTheDistance) {
  WorldSettings s = small(LongHaul::kMatchRdma, 1000);
  double gbps[2];
  for (const bool proxied : {false, true}) {
    s.scheme = proxied ? LongHaul::kMatchRdma : LongHaul::kDcqcn;
    World w(s);
    ClosedLoop load(w.network(), {.message_bytes = 128 << 10, .outstanding = 4}, across(s));
    RunMetrics m;
    ASSERT_TRUE(run(w, load, Window::steady(1000), m));
    gbps[proxied ? 1 : 0] = m.delivered_gbps() / s.topology.hosts_per_site();
    EXPECT_EQ(m.sent_again, 0);
  }
  EXPECT_NEAR(gbps[0], 4 * (128 << 10) * 8 / 10.05e-3 / 1e9, 0.05);  // C messages each round trip
  EXPECT_GT(gbps[1], 90);
}

TEST(MatchRdma, EndToEndCompletesWhenTheReceiverHasIt) {
  WorldSettings s = small(LongHaul::kMatchRdma, 100);
  for (const Completion c : {Completion::kEarly, Completion::kEndToEnd}) {
    s.proxy.completion = c;
    World w(s);
    ClosedLoop load(w.network(), {.message_bytes = 64 << 10, .outstanding = 1, .messages = 20}, across(s));
    RunMetrics m;
    ASSERT_TRUE(run(w, load, {.length = SimSpan::micros(1'000'000), .to_the_end = true}, m));
    for (const MessageRecord& r : load.messages()) {
      if (c == Completion::kEndToEnd) {
        EXPECT_GT(r.acknowledged, r.delivered);
      } else {
        EXPECT_LT((r.acknowledged - r.posted).us(), 100);
      }
    }
  }
}

}  // namespace
}  // namespace matchrdma::sim
