#include "sim/flowlet_table.h"

#include <gtest/gtest.h>

#include <set>

namespace matchrdma::sim {
namespace {

constexpr SimSpan kGap = SimSpan::micros(100);
constexpr uint32_t kPorts = 4;

TEST(FlowletTable, KeepsAFlowWhilePausesAreShorterThanTheGap) {
  FlowletTable t(kGap, 1);
  SimTime now{};
  const uint32_t port = t.choose(77, kPorts, now);
  for (int i = 0; i < 200; ++i) {
    now = now + kGap - SimSpan{1};
    ASSERT_EQ(t.choose(77, kPorts, now), port) << i;
  }
}

TEST(FlowletTable, DrawsAnewAfterTheGap) {
  FlowletTable t(kGap, 1);
  SimTime now{};
  int changes = 0;
  uint32_t last = t.choose(77, kPorts, now);
  std::set<uint32_t> seen{last};
  for (int i = 0; i < 200; ++i) {
    now = now + kGap;
    const uint32_t port = t.choose(77, kPorts, now);
    changes += port != last ? 1 : 0;
    seen.insert(last = port);
  }
  EXPECT_EQ(seen.size(), kPorts);
  EXPECT_NEAR(changes, 150, 25);  // three draws of four are another port
}

TEST(FlowletTable, FlowsAreSpread) {
  FlowletTable t(kGap, 1);
  int of_port[kPorts] = {};
  for (uint64_t flow = 0; flow < 4000; ++flow) ++of_port[t.choose(flow, kPorts, SimTime{})];
  for (const int n : of_port) EXPECT_NEAR(n, 1000, 120);
}

}  // namespace
}  // namespace matchrdma::sim
