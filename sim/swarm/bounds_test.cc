// A bound that is broken is named, with its figures.
#include "sim/swarm/bounds.h"

#include <gtest/gtest.h>

namespace matchrdma::swarm {
namespace {

/// One source flow and one destination flow, nothing held.
Holdings two_flows() {
  Holdings h;
  h.flows.resize(2);
  h.flows[0].source = true;
  return h;
}

Limits small() {
  Limits l;
  l.custody_hard_bytes = 1000;
  l.reserve_bytes_per_flow = 100;
  l.reorder_memory = 2000;
  l.lan_gap_packets = 3;
  l.max_flows = 4;
  l.max_groups = 2;
  return l;
}

TEST(Bounds, CustodyIsTheHardLimitAndTheReserves) {
  Holdings h = two_flows();
  h.owned_packets = h.counters.custody_packets = 2;
  h.counters.custody_bytes = 1100;
  EXPECT_EQ(over_limits(h, small()), "");
  h.counters.custody_bytes = 1101;
  EXPECT_EQ(over_limits(h, small()), "custody_bytes is 1101, above its bound of 1100");
}

TEST(Bounds, HeldIsTheReorderMemoryTheReservesAndOnePacketEach) {
  Holdings h = two_flows();
  h.counters.held_bytes = 2000 + 100 + 4352;
  EXPECT_EQ(over_limits(h, small()), "");
  ++h.counters.held_bytes;
  EXPECT_EQ(over_limits(h, small()), "held_bytes is 6453, above its bound of 6452");
}

TEST(Bounds, CustodyIsExplainedByPackets) {
  Holdings h = two_flows();
  h.counters.custody_bytes = 1;
  EXPECT_EQ(over_limits(h, small()), "custody_bytes is 1, above its bound of 0");
  h.counters.custody_bytes = 0;
  h.owned_packets = 1;
  EXPECT_EQ(over_limits(h, small()), "owned packets is 1, above its bound of 0");
  h.counters.custody_packets = 2;
  EXPECT_EQ(over_limits(h, small()), "custody_packets is 2, above its bound of 1");
}

TEST(Bounds, GateIsPartOfCustodyAndTheSumOfItsGroups) {
  Holdings h = two_flows();
  h.counters.gate_bytes = 5;
  EXPECT_EQ(over_limits(h, small()), "gate_bytes is 5, above its bound of 0");
  h.counters.custody_bytes = 5;
  h.owned_packets = h.counters.custody_packets = 1;
  EXPECT_EQ(over_limits(h, small()), "gate_bytes is 5, above its bound of 0");
  h.groups.resize(1);
  h.groups[0].backlog_bytes = 5;
  EXPECT_EQ(over_limits(h, small()), "");
  h.groups[0].backlog_bytes = 6;
  EXPECT_EQ(over_limits(h, small()), "the backlog of all groups is 6, above its bound of 5");
}

TEST(Bounds, TablesAndGaps) {
  Holdings h = two_flows();
  h.flows[0].behind_gap = 4;
  EXPECT_EQ(over_limits(h, small()), "packets behind gaps is 4, above its bound of 3");
  h.flows[0].behind_gap = 0;
  h.groups.resize(3);
  EXPECT_EQ(over_limits(h, small()), "groups is 3, above its bound of 2");
  h.groups.clear();
  h.flows.resize(5);
  EXPECT_EQ(over_limits(h, small()), "flows is 5, above its bound of 4");
}

TEST(Bounds, StrangersLeaveNothing) {
  const Holdings before = two_flows();
  Holdings after = before;
  EXPECT_EQ(left_behind(before, after), "");
  after.unpaired = 1;
  EXPECT_EQ(left_behind(before, after),
            "flows that are watched after hostile packets is 1, above its bound of 0");
  after = before;
  after.flows.resize(3);
  EXPECT_EQ(left_behind(before, after), "flows after hostile packets is 3, above its bound of 2");
}

TEST(Bounds, AnIdleProxyHasNothingUncounted) {
  const Holdings h = two_flows();
  EXPECT_EQ(uncounted_bytes(h.flows, false), 0u);
  EXPECT_GT(uncounted_bytes(h.flows, true), 0u);
}

}  // namespace
}  // namespace matchrdma::swarm
