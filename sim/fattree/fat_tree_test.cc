#include "sim/fattree/fat_tree.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/workload/closed_loop.h"

namespace matchrdma::sim {
namespace {

/// Switches of the core that have forwarded something, after one message of each of `flows` QPs of the pair.
uint32_t cores_used(FatTree& tree, uint32_t source, uint32_t destination, size_t flows,
                    ClosedLoopSettings settings) {
  ClosedLoop load(tree.network(), settings,
                  std::vector<std::pair<uint32_t, uint32_t>>(flows, {source, destination}));
  load.open([&](uint32_t a, uint32_t b) { return tree.network().open(a, b, {.mtu = 1024}, {}); });
  load.start();
  while (!load.done() && tree.network().events().run_one()) {
  }
  EXPECT_TRUE(load.done());
  uint32_t used = 0;
  const uint32_t port = tree.pod_of(destination);  // of the core: one for each pod, in their order
  for (uint32_t c = 0; c < tree.half() * tree.half(); ++c)
    used += tree.network().switch_node(tree.core(c)).queues(port).peak_bytes() > 0 ? 1 : 0;
  return used;
}

TEST(FatTree, HasTheSizeOfThePaper) {
  const FatTree tree({});
  EXPECT_EQ(tree.network().hosts(), 128u);
  EXPECT_EQ(tree.network().switches(), 80u);
  for (uint32_t s = 0; s < 80; ++s) {
    EXPECT_EQ(tree.network().switch_node(s).ports(), 8u) << s;
  }
}

TEST(FatTree, EveryPairHasItsShortestPaths) {
  const FatTree tree({});
  const Network& net = tree.network();
  for (uint32_t a = 0; a < net.hosts(); ++a) {
    for (uint32_t b = 0; b < net.hosts(); ++b) {
      if (a == b) continue;
      const bool same_edge = tree.edge_of(a) == tree.edge_of(b), same_pod = tree.pod_of(a) == tree.pod_of(b);
      const int64_t links = same_edge ? 2 : same_pod ? 4 : 6;
      ASSERT_EQ(net.base_rtt(a, b, 0), SimSpan::micros(2 * links)) << a << ' ' << b;
      ASSERT_EQ(tree.paths(a, b), same_edge ? 1u : same_pod ? 4u : 16u);
      const size_t up = net.switch_node(tree.edge_of(a)).routes_to(b).size();
      ASSERT_EQ(up, same_edge ? 1u : 4u);
      // From each switch of the pod's aggregation one way down, or four up.
      const uint32_t aggregation = tree.edges() + tree.pod_of(a) * 4;
      for (uint32_t i = 0; i < 4; ++i)
        ASSERT_EQ(net.switch_node(aggregation + i).routes_to(b).size(), same_pod ? 1u : 4u);
    }
  }
  for (uint32_t c = 0; c < 16; ++c)
    for (uint32_t b = 0; b < net.hosts(); ++b) ASSERT_EQ(net.switch_node(tree.core(c)).routes_to(b).size(), 1u);
}

TEST(FatTree, EcmpSpreadsFlowsOverAllPaths) {
  FatTree tree({});
  EXPECT_EQ(cores_used(tree, 0, 127, 256, {.message_bytes = 4096, .messages = 1}), 16u);
}

TEST(FatTree, EcmpKeepsAFlowOnOnePath) {
  FatTree tree({});
  EXPECT_EQ(cores_used(tree, 0, 127, 1, {.message_bytes = 1024, .messages = 500}), 1u);
}

TEST(FatTree, TrafficOfAPodStaysInIt) {
  FatTree tree({});
  EXPECT_EQ(cores_used(tree, 0, 15, 256, {.message_bytes = 4096, .messages = 1}), 0u);
}

// A message takes a round trip of 12 us: shorter than one gap, longer than the other.
TEST(FatTree, LetFlowChangesAPathOnlyAfterTheGap) {
  FatTree patient({.flowlet_gap = SimSpan::micros(100)});
  EXPECT_EQ(cores_used(patient, 0, 127, 1, {.message_bytes = 1024, .messages = 500}), 1u);
  FatTree hasty({.flowlet_gap = SimSpan::micros(10)});
  EXPECT_EQ(cores_used(hasty, 0, 127, 1, {.message_bytes = 1024, .messages = 500}), 16u);
}

}  // namespace
}  // namespace matchrdma::sim
