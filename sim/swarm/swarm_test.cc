// Swarms in small: what is drawn, that a seed is a run, that canaries sing.
#include <gtest/gtest.h>

#include "sim/swarm/run.h"
#include "sim/swarm/simplify.h"

namespace matchrdma::swarm {
namespace {

Options with(uint64_t seed, Canary canary) {
  Options o = swarm_options(seed);
  o.canary = canary;
  return o;
}

TEST(Swarm, NoInvariantBreaks) {
  for (uint64_t seed = 1; seed <= 40; ++seed)
    EXPECT_EQ(run_schedule(swarm_options(seed)).complaint, "") << "seed " << seed;
}

// Seeds that once found something.
TEST(Swarm, WhatBrokeStaysMended) {
  for (const uint64_t seed : {784ull, 2893ull, 3342ull, 4592ull, 3633957912ull, 3633958436ull, 3633962314ull,
                              3633962842ull, 3633967092ull, 3021071818ull, 52264ull, 14831ull, 1107741742ull})
    EXPECT_EQ(run_schedule(swarm_options(seed)).complaint, "") << "seed " << seed;
}

TEST(Swarm, SameSeedSameRun) {
  for (const uint64_t seed : {7u, 8u, 9u}) {
    std::vector<uint8_t> seen[2];
    for (auto& bytes : seen) {
      const Outcome r = run_schedule(swarm_options(seed), [&](Tap tap, Instant at, Bytes b) {
        bytes.push_back(static_cast<uint8_t>(tap));
        bytes.push_back(static_cast<uint8_t>(at.ns));
        bytes.insert(bytes.end(), b.begin(), b.end());
      });
      EXPECT_GT(r.packets, 0u);
    }
    EXPECT_EQ(seen[0], seen[1]) << "seed " << seed;
  }
}

TEST(Swarm, CanariesAreFound) {
  for (const Canary canary : {Canary::kPayload, Canary::kMemory}) {
    int found = 0;
    for (uint64_t seed = 1; seed <= 30; ++seed)
      found += run_schedule(with(seed, canary)).complaint.empty() ? 0 : 1;
    EXPECT_GT(found, 3) << static_cast<int>(canary);
  }
}

TEST(Swarm, SpeaksOfBytesThatNobodyHolds) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const std::string complaint = run_schedule(with(seed, Canary::kMemory)).complaint;
    if (complaint.empty()) continue;
    EXPECT_TRUE(complaint.find("live bytes") != std::string::npos ||
                complaint.find("were not given back") != std::string::npos)
        << complaint;
  }
}

// A seed of the schedules below keeps its meaning: what they draw is not drawn anew.
TEST(Swarm, AddsToTheScheduleOfItsSeed) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const Options below = random_options(seed), o = swarm_options(seed);
    EXPECT_EQ(o.wan.loss, below.wan.loss);
    EXPECT_EQ(o.timing.initial_rtt, below.timing.initial_rtt);
    ASSERT_GE(o.pairs.size(), below.pairs.size());
    for (size_t i = 0; i < below.pairs.size(); ++i) EXPECT_EQ(o.pairs[i].pair.seed, below.pairs[i].pair.seed);
  }
}

// Everything that the table of `matchrdma sim swarm` names comes within a few hundred worlds, or its name is
// empty talk.
TEST(Swarm, EveryFaultComes) {
  Tally all;
  for (uint64_t seed = 1; seed <= 250; ++seed) {
    const Tally one = run_schedule(swarm_options(seed)).tally;
    for (size_t i = 0; i < kEvents; ++i) all.n[i] += one.n[i];
  }
  for (size_t i = 0; i < kEvents; ++i) EXPECT_GT(all.n[i], 0u) << kEventTexts[i];
}

TEST(Swarm, ShrinksWhatFails) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const Options o = with(seed, Canary::kPayload);
    if (run_schedule(o).complaint.empty()) continue;
    const Options small = shrink(o);
    EXPECT_NE(run_schedule(small).complaint, "");
    EXPECT_LE(small.pairs.size(), o.pairs.size());
    return;
  }
  FAIL() << "no seed failed";
}

}  // namespace
}  // namespace matchrdma::swarm
