#include "sim/workload/mixed_workload.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/workload/test_sites.h"

namespace matchrdma::sim {
namespace {

using test::Sites;

/// Hosts 0 to 15 are site A.
bool crosses(const Arrival& a) { return (a.source < 16) != (a.destination < 16); }

double bytes_of(const std::vector<Arrival>& arrivals) {
  double sum = 0;
  for (const Arrival& a : arrivals) sum += static_cast<double>(a.bytes);
  return sum;
}

TEST(MixedTraffic, HasThePagesFigures) {
  std::vector<Arrival> all;
  constexpr int kSeeds = 16;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::vector<Arrival> one = draw_arrivals({.seed = seed});
    EXPECT_NEAR(static_cast<double>(one.size()), 2133, 0.12 * 2133) << seed;
    EXPECT_TRUE(
        std::is_sorted(one.begin(), one.end(), [](const Arrival& a, const Arrival& b) { return a.at < b.at; }));
    EXPECT_LT(one.back().at, SimSpan::micros(30'000));
    all.insert(all.end(), one.begin(), one.end());
  }
  const double bytes = bytes_of(all), n = static_cast<double>(all.size());
  EXPECT_NEAR(bytes / n, 3.44e9 / 2133, 0.04 * 3.44e9 / 2133);
  EXPECT_NEAR(bytes / kSeeds, 0.3 * 32 * 12.5e9 * 0.03, 0.05 * 3.6e9);
  std::vector<Arrival> inter;
  std::copy_if(all.begin(), all.end(), std::back_inserter(inter), crosses);
  EXPECT_NEAR(bytes_of(inter) / bytes, 0.5, 0.03);
  std::sort(all.begin(), all.end(), [](const Arrival& a, const Arrival& b) { return a.bytes < b.bytes; });
  EXPECT_NEAR(static_cast<double>(all[all.size() / 2].bytes), 75'000, 4'000);
  EXPECT_GE(all.front().bytes, 8);
  EXPECT_LT(all.front().bytes, 100);
  EXPECT_LE(all.back().bytes, 29'800'000);
  EXPECT_GT(all.back().bytes, 29'000'000);
}

TEST(MixedTraffic, ArrivalsAreAPoissonProcess) {
  // Its numbers in equal intervals vary as much as they are large.
  const std::vector<Arrival> arrivals = draw_arrivals({.duration = SimSpan::micros(600'000)});
  constexpr size_t kIntervals = 2000;
  std::vector<double> counts(kIntervals);
  for (const Arrival& a : arrivals) counts[static_cast<size_t>(a.at.ps / 300'000'000)] += 1;
  double mean = 0, variance = 0;
  for (const double c : counts) mean += c / kIntervals;
  for (const double c : counts) variance += (c - mean) * (c - mean) / kIntervals;
  EXPECT_NEAR(variance / mean, 1, 0.15);
}

TEST(MixedTraffic, EveryHostSendsAndReceivesWithinAndBetweenSites) {
  const std::vector<Arrival> arrivals = draw_arrivals({.duration = SimSpan::micros(300'000)});
  std::vector<double> sent[2], received[2];
  for (const int inter : {0, 1}) {
    sent[inter].resize(32);
    received[inter].resize(32);
  }
  for (const Arrival& a : arrivals) {
    EXPECT_NE(a.source, a.destination);
    sent[crosses(a)][a.source] += 1;
    received[crosses(a)][a.destination] += 1;
  }
  const double each = static_cast<double>(arrivals.size()) / 64;  // about 350
  for (const int inter : {0, 1})
    for (const std::vector<double>& count : {sent[inter], received[inter]})
      for (const double n : count) EXPECT_NEAR(n, each, 0.25 * each);
}

TEST(MixedTraffic, LoadAndSeedAreAllThatChangesIt) {
  const MixedSettings s{.load = 0.5, .seed = 7};
  EXPECT_EQ(draw_arrivals(s), draw_arrivals(s));
  EXPECT_NE(draw_arrivals(s), draw_arrivals({.load = 0.5, .seed = 8}));
  EXPECT_NEAR(static_cast<double>(draw_arrivals({.load = 0.7}).size()) /
                  static_cast<double>(draw_arrivals({.load = 0.3}).size()),
              7.0 / 3, 0.15);
}

TEST(MixedWorkload, PostsTheListAndEnds) {
  const MixedSettings settings{.duration = SimSpan::micros(10'000), .hosts_per_site = 4};
  Sites s(1, 4);
  s.net.events().run_until(SimTime{} + SimSpan::micros(100));
  MixedWorkload load(s.net, settings);
  s.run(load);
  ASSERT_TRUE(load.done());
  const std::vector<Arrival> expected = draw_arrivals(settings);
  EXPECT_EQ(load.arrivals(), expected);
  ASSERT_EQ(load.messages().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const MessageRecord& m = load.messages()[i];
    EXPECT_EQ(m.posted, SimTime{} + SimSpan::micros(100) + expected[i].at);
    EXPECT_EQ(m.bytes, expected[i].bytes);
    EXPECT_EQ(load.flow(m.flow).source, expected[i].source);
    EXPECT_EQ(load.flow(m.flow).destination, expected[i].destination);
    EXPECT_FALSE(m.acknowledged.is_never());
  }
}

TEST(MixedWorkload, AMessageTakesAnIdleQpOfItsPairOrTheOneWithLeastToDo) {
  const MixedSettings settings{
      .load = 0.7, .duration = SimSpan::micros(10'000), .hosts_per_site = 2, .qps_per_pair = 3};
  Sites s(100, 2);
  MixedWorkload load(s.net, settings);
  s.run(load);
  ASSERT_TRUE(load.done());
  EXPECT_LE(load.flows(), 4u * 3u * 3u);
  const auto left = [&](size_t flow,
                        size_t before) {  // bytes not acknowledged when message `before` was posted
    int64_t bytes = 0;
    for (size_t i = 0; i < before; ++i) {
      const MessageRecord& m = load.messages()[i];
      if (m.flow == flow && m.acknowledged > load.messages()[before].posted) bytes += m.bytes;
    }
    return bytes;
  };
  size_t queued = 0;
  for (size_t n = 0; n < load.messages().size(); ++n) {
    const MessageRecord& m = load.messages()[n];
    const Flow& own = load.flow(m.flow);
    const int64_t chosen = left(m.flow, n);
    queued += chosen > 0;
    for (size_t f = 0; f < load.flows(); ++f) {
      if (load.flow(f).source != own.source || load.flow(f).destination != own.destination) continue;
      EXPECT_LE(chosen, left(f, n)) << n;
    }
  }
  EXPECT_EQ(load.queued(), queued);
  EXPECT_GT(queued, 0u);
}

TEST(MixedWorkload, WithEnoughQpsNothingWaitsBehindAnother) {
  Sites s(100, 2);
  MixedWorkload load(s.net, {.duration = SimSpan::micros(10'000), .hosts_per_site = 2, .qps_per_pair = 1000});
  s.run(load);
  ASSERT_TRUE(load.done());
  EXPECT_EQ(load.queued(), 0u);
  EXPECT_EQ(load.flows(), load.arrivals().size());  // no QP for nothing
}

}  // namespace
}  // namespace matchrdma::sim
