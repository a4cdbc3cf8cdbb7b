#include "controlplane/estimator/fair_share.h"

#include <gtest/gtest.h>

#include <numeric>

#include "dataplane/base/prng.h"

namespace matchrdma {
namespace {

std::vector<double> share(double capacity, const std::vector<Claim>& claims) {
  FairShare f;
  const auto s = f.share(capacity, claims);
  return {s.begin(), s.end()};
}

TEST(FairShare, SmallDemandsAreMetTheRestIsEqual) {
  EXPECT_EQ(share(100, {{10}, {80}, {70}}), (std::vector<double>{10, 45, 45}));
}

TEST(FairShare, WeightsOfThoseWhoWantMore) {
  EXPECT_EQ(share(90, {{100, 1}, {100, 2}}), (std::vector<double>{30, 60}));
  EXPECT_EQ(share(90, {{100, 1}, {40, 2}}), (std::vector<double>{50, 40}));
}

TEST(FairShare, WhatNobodyAsksForIsGivenOut) {
  EXPECT_EQ(share(100, {{0}, {20}}), (std::vector<double>{40, 60}));
  EXPECT_TRUE(share(100, {}).empty());
}

TEST(FairShare, MaxMinProperties) {
  Prng p(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Claim> claims(1 + p.below(12));
    double wanted = 0;
    for (Claim& c : claims) {
      c = {p.chance(0.2) ? 0 : 100 * p.unit(), 0.1 + 5 * p.unit()};
      wanted += c.demand;
    }
    const double capacity = 200 * p.unit();
    const std::vector<double> s = share(capacity, claims);
    EXPECT_NEAR(std::accumulate(s.begin(), s.end(), 0.0), capacity, 1e-9 * (1 + capacity));
    for (size_t i = 0; i < s.size(); ++i) {
      EXPECT_GE(s[i], 0);
      if (wanted <= capacity) {
        EXPECT_GE(s[i], claims[i].demand - 1e-9);
      }
      if (wanted <= capacity || s[i] >= claims[i].demand - 1e-9) continue;
      // Who gets less than it asks for: nobody gets more per weight.
      for (size_t j = 0; j < s.size(); ++j) EXPECT_LE(s[j] / claims[j].weight, s[i] / claims[i].weight + 1e-9);
    }
  }
}

}  // namespace
}  // namespace matchrdma
