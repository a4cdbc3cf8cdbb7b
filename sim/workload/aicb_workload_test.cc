#include "sim/workload/aicb_workload.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "sim/workload/aicb_examples.h"
#include "sim/workload/test_sites.h"

namespace matchrdma::sim {
namespace {

using test::Sites;

AicbModel model(const std::string& layer, const std::string& groups = "") {
  auto m = parse_aicb("HYBRID " + groups + "\n1\n" + layer + "\n", "test");
  EXPECT_TRUE(m.ok()) << m.error();
  return *std::move(m);
}

// ---- schedules ----

using Pair = std::pair<uint32_t, uint32_t>;

/// Messages by sender and receiver, as the senders (or the receivers) see them.
std::map<Pair, int> messages(Collective c, Pattern p, uint32_t ranks, bool sent, int64_t& bytes) {
  std::map<Pair, int> all;
  bytes = 0;
  for (uint32_t r = 0; r < ranks; ++r) {
    std::vector<Step> steps;
    append_collective(c, p, 3200, r, ranks, steps);
    for (const Step& s : steps) {
      if (!sent)
        for (const uint32_t from : s.receives) ++all[{from, r}];
      for (const Step::Send& send : s.sends) {
        if (sent) ++all[{r, send.rank}];
        bytes += r == 0 ? send.bytes : 0;
        EXPECT_NE(send.rank, r);
      }
    }
    EXPECT_TRUE(steps.back().settles);
  }
  return all;
}

TEST(Collectives, EverySendIsReceivedAndSharesAddUp) {
  struct Case {
    Pattern pattern;
    size_t pairs;
    int messages;  ///< of a pair, in one round
    int64_t bytes;
  };
  for (const Case& k : {Case{Pattern::kRing, 32, 31, 31 * 100}, Case{Pattern::kPairwise, 32 * 31, 1, 31 * 100},
                        Case{Pattern::kMirror, 32, 1, 1600}}) {
    for (const auto& [c, rounds] :
         {std::pair{Collective::kAllReduce, 2}, std::pair{Collective::kReduceScatter, 1},
          std::pair{Collective::kAllGather, 1}}) {
      int64_t bytes = 0;
      const auto sent = messages(c, k.pattern, 32, true, bytes);
      EXPECT_EQ(bytes, rounds * k.bytes);
      EXPECT_EQ(sent, messages(c, k.pattern, 32, false, bytes));
      EXPECT_EQ(sent.size(), k.pairs);
      for (const auto& [pair, n] : sent) EXPECT_EQ(n, rounds * k.messages);
    }
    int64_t bytes = 0;
    EXPECT_EQ(messages(Collective::kAllToAll, k.pattern, 32, true, bytes).size(), 32u * 31u);
    EXPECT_EQ(bytes, 31 * 100);
  }
}

TEST(Collectives, HalfOfThePairwiseStepsCrossAllAtOnce) {
  for (uint32_t r = 0; r < 32; ++r) {
    std::vector<Step> steps;
    append_collective(Collective::kReduceScatter, Pattern::kPairwise, 3200, r, 32, steps);
    int crossing = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
      const bool crosses = (steps[i].sends[0].rank < 16) != (r < 16);
      EXPECT_EQ(crosses, i >= 15);
      crossing += crosses;
    }
    EXPECT_EQ(crossing, 16);
  }
}

// ---- iterations ----

/// Seconds that `bytes` take at line rate with their headers.
double line_seconds(double bytes) { return bytes * 8 / 1e11 * (4096 + 62 + 20) / 4096; }

std::vector<SimSpan> run(Sites& s, const AicbModel& m, const AicbSettings& settings) {
  AicbWorkload load(s.net, m, settings, s.all());
  s.run(load);
  EXPECT_TRUE(load.done());
  EXPECT_EQ(load.iterations(), settings.iterations);
  return load.iteration_times();
}

TEST(AicbWorkload, AnIterationIsComputingAndTalkingAtLineRate) {
  struct Case {
    const char* name;
    std::string layer;
    Pattern pattern;
    double compute_us, bytes;  ///< of a rank, k = 4
  };
  const double share = 7.0 / 8;
  const Case cases[] = {
      {"ring", "a -1 4000000 NONE 0 8000000 NONE 0 2000000 ALLREDUCE 400000000 400000", Pattern::kRing, 3600,
       2 * share * 1e8},
      {"pairwise", "a -1 4000000 NONE 0 8000000 NONE 0 2000000 ALLREDUCE 400000000 400000", Pattern::kPairwise,
       3600, 2 * share * 1e8},
      {"reduce-scatter", "a -1 0 NONE 0 0 NONE 0 4000000 REDUCESCATTER 400000000 0", Pattern::kPairwise, 1000,
       share * 1e8},
      {"mirror", "a -1 4000000 NONE 0 0 NONE 0 0 ALLREDUCE 400000000 0", Pattern::kMirror, 1000, 1e8},
      {"gather there and back", "a -1 4000000 ALLGATHER 200000000 4000000 ALLGATHER 200000000 0 NONE 0 0",
       Pattern::kRing, 2000, 2 * share * 5e7},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Sites s(1, 4);
    const double expected_us = c.compute_us + line_seconds(c.bytes) * 1e6;
    for (const SimSpan t : run(s, model(c.layer), {.pattern = c.pattern, .scale = 4, .iterations = 2}))
      EXPECT_NEAR(t.us(), expected_us, 0.03 * expected_us);
  }
}

TEST(AicbExamples, IterationsTakeTwentyToFortyMilliseconds) {
  for (const AicbExample& e : kAicbExamples) {
    Sites s(1, 16);
    const AicbModel m = *parse_aicb(e.text(), std::string(e.name));
    const double ms = run(s, m, {.scale = e.scale, .iterations = 1})[0].us() / 1000;
    EXPECT_GT(ms, 20) << e.name;
    EXPECT_LT(ms, 40) << e.name;
    RecordProperty(std::string(e.name), std::to_string(ms));
  }
}

// What came is not enough: the next iteration writes into the buffers that are still being sent.
TEST(AicbWorkload, ACollectiveEndsWithTheAcknowledgements) {
  Sites s(100, 1);
  const SimSpan t =
      run(s, model("a -1 0 NONE 0 0 NONE 0 0 REDUCESCATTER 800 0"), {.scale = 1, .iterations = 1})[0];
  EXPECT_NEAR(t.us(), 1004, 1);
}

TEST(AicbWorkload, AllToAllIsABurst) {
  Sites s(1, 4);
  AicbWorkload load(s.net, model("a -1 1000000 ALLTOALL 80000000 0 NONE 0 0 NONE 0 0"),
                    {.scale = 1, .iterations = 1}, s.all());
  s.run(load);
  ASSERT_EQ(load.messages().size(), 8u * 7u);
  for (const MessageRecord& m : load.messages()) {
    EXPECT_EQ(m.posted.us(), 1000);
    EXPECT_EQ(m.bytes, 10'000'000);
  }
  // Several senders meet at a receiver now and then, so it takes longer than at line rate.
  const double least_us = 1000 + line_seconds(7e7) * 1e6;
  EXPECT_GT(load.iteration_times()[0].us(), least_us);
  EXPECT_LT(load.iteration_times()[0].us(), 2 * least_us);
}

TEST(AicbWorkload, WhatRanksOfALayerExchangeStaysInItsLeaf) {
  const std::string layer = "a -1 1000 ALLREDUCE 80000 1000 ALLREDUCE 80000 1000 ALLGATHER 80000 0";
  for (const auto& [groups, messages] :
       {std::pair{"model_parallel_NPU_group: 2", 8 * 7}, std::pair{"", 8 * 7 * 5}}) {
    Sites s(1, 4);
    AicbWorkload load(s.net, model(layer, groups), {.scale = 1, .iterations = 1}, s.all());
    s.run(load);
    EXPECT_EQ(load.messages().size(), static_cast<size_t>(messages));
  }
}

TEST(AicbWorkload, PipelineStagesHandOverAndSumApart) {
  Sites s(100, 4);
  AicbWorkload load(s.net,
                    model("a -1 1000000 NONE 0 2000000 NONE 0 0 ALLREDUCE 4000 0", "pp: 2 pp_comm: 1000000"),
                    {.scale = 1, .iterations = 2}, s.all());
  s.run(load);
  ASSERT_TRUE(load.done());
  size_t crossing = 0;
  for (const MessageRecord& m : load.messages()) {
    if (!s.inter(load.flow(m.flow))) continue;
    ++crossing;
    EXPECT_EQ(m.bytes, 1'000'000);
  }
  EXPECT_EQ(crossing, 2u * 8u);
  // Forward at one, forward and backward at the other, backward at the one; twice over the link, 502 us each.
  for (const SimSpan t : load.iteration_times())
    EXPECT_NEAR(t.us(), 1000 + 1000 + 2000 + 2000 + 2 * (502 + 82), 0.03 * 7000);
}

TEST(AicbWorkload, JitterSpreadsComputingAndTheSlowestRankCounts) {
  const AicbModel m = model("a -1 1000000 NONE 0 0 NONE 0 0 ALLREDUCE 800 0");
  constexpr uint64_t kIterations = 200;
  const auto times = [&](double j, uint32_t hosts_per_site, uint64_t seed) {
    Sites s(1, hosts_per_site);
    return run(s, m, {.scale = 1, .jitter = j, .iterations = kIterations, .seed = seed});
  };
  EXPECT_EQ(times(0.2, 1, 1), times(0.2, 1, 1));
  EXPECT_NE(times(0.2, 1, 1), times(0.2, 1, 2));
  for (const uint32_t hosts_per_site : {1u, 4u}) {
    const std::vector<SimSpan> still = times(0, hosts_per_site, 1), shaken = times(0.2, hosts_per_site, 1);
    double sum = 0;
    for (size_t i = 0; i < kIterations; ++i) {
      const double more_us = (shaken[i] - still[i]).us();
      EXPECT_GT(more_us, -210);  // ranks do not end at the same time
      EXPECT_LT(more_us, 210);
      sum += more_us;
    }
    // The greatest of n uniform numbers is n / (n + 1) of the width, on average.
    const double n = 2 * hosts_per_site;
    EXPECT_NEAR(sum / kIterations, -200 + 400 * n / (n + 1), 20);
  }
}

TEST(AicbWorkload, WithoutAnEndItGoesOn) {
  Sites s(1, 2);
  AicbWorkload load(s.net, model("a -1 100000 NONE 0 0 NONE 0 0 ALLREDUCE 800 0"), {.scale = 1}, s.all());
  s.start(load);
  s.net.events().run_until(SimTime{} + SimSpan::micros(10'000));
  EXPECT_FALSE(load.done());
  EXPECT_GT(load.iterations(), 50u);
}

}  // namespace
}  // namespace matchrdma::sim
