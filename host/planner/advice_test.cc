#include "host/planner/advice.h"

#include <gtest/gtest.h>

#include "host/planner/completion.h"

namespace matchrdma::planner {
namespace {

constexpr Code kCode{32, 8};

Link link_of(double loss) {
  Link l;
  l.rtt = Duration::millis(25);
  l.rate = {400'000'000'000};
  l.loss = loss;
  return l;
}

bool code_is_better(const Link& l, uint64_t bytes) {
  return Completion(l, bytes, {Method::kErasureCode, kCode}).mean() < Completion(l, bytes, {}).mean();
}

// SDR-RDMA, figure 3: EC for the middle, SR for very large messages and very little loss.
TEST(Advice, EcBeatsSrBetweenTwoSizes) {
  const Link l = link_of(1e-5);
  const auto c = crossover(l, kCode);
  ASSERT_TRUE(c && c->ends);
  EXPECT_LT(c->begins, 1u << 20);
  EXPECT_GT(*c->ends, uint64_t{1} << 30);
  EXPECT_LT(*c->ends, uint64_t{8} << 30);
  EXPECT_TRUE(code_is_better(l, c->begins));
  EXPECT_FALSE(code_is_better(l, c->begins - l.packet_bytes));
  EXPECT_FALSE(code_is_better(l, *c->ends));
  EXPECT_TRUE(code_is_better(l, *c->ends - l.packet_bytes));
}

TEST(Advice, SrAlwaysWinsAtVeryLittleLoss) {
  EXPECT_FALSE(crossover(link_of(0), kCode));
  EXPECT_FALSE(crossover(link_of(1e-9), kCode));
}

// The more is lost, the wider the range in which parity pays.
TEST(Advice, TheRangeGrowsWithLoss) {
  const auto little = crossover(link_of(1e-6), kCode), more = crossover(link_of(1e-4), kCode);
  ASSERT_TRUE(little && more && little->ends && more->ends);
  EXPECT_GT(little->begins, more->begins);
  EXPECT_LT(*little->ends, *more->ends);
}

TEST(Advice, TakesTheQuickestAndOfEqualsTheOneWithFewestBytes) {
  EXPECT_EQ(best_of({{10, 100}, {8, 125}}), 1u);
  EXPECT_EQ(best_of({{8.05, 100}, {8, 125}}), 0u);
  EXPECT_EQ(best_of({{8, 125}, {8, 125}}), 0u);
  EXPECT_EQ(best_of({{8, 100}}), 0u);
}

}  // namespace
}  // namespace matchrdma::planner
