// Transfers through the fat tree: conservation, times in closed form, a dark switch.
#include "sim/fattree/comparison.h"

#include <gtest/gtest.h>

#include <memory>

#include "sim/fattree/single_path_load.h"

namespace matchrdma::sim {
namespace {

constexpr Rate k100G{100'000'000'000};

/// A small tree under some load.
FatTreeCase small_case(Balancing scheme) {
  FatTreeCase c;
  c.scheme = scheme;
  c.tree.ports = 4;  // 16 hosts
  c.load = 0.6;
  c.warm_up = {};
  c.duration = SimSpan::micros(2'000);
  return c;
}

size_t transfers_of(const FatTreeCase& c) {
  return draw_all_to_all(
             {.sizes = c.sizes, .hosts = 16, .load = c.load, .duration = c.duration, .seed = c.seed})
      .size();
}

class EveryScheme : public testing::TestWithParam<Balancing> {};
INSTANTIATE_TEST_SUITE_P(Balancings, EveryScheme, testing::ValuesIn(kBalancings),
                         [](const auto& i) { return std::string(balancing_name(i.param)); });

TEST_P(EveryScheme, DeliversEachTransferOnce) {
  const FatTreeCase c = small_case(GetParam());
  const FatTreeResult r = run_fat_tree(c);
  EXPECT_EQ(r.all.unfinished, 0u);
  EXPECT_EQ(r.all.receiver.messages, transfers_of(c));
  EXPECT_EQ(r.small.receiver.messages + r.large.receiver.messages, r.all.receiver.messages);
  EXPECT_EQ(r.drops, 0u);
  EXPECT_EQ(r.sent_again, 0);
  EXPECT_GE(r.all.receiver.mean_slowdown, 1);
}

TEST_P(EveryScheme, WhatIsDroppedIsCountedAndSentAgain) {
  FatTreeCase c = small_case(GetParam());
  c.tree.buffer_per_port = 30'000;       // headroom is less than a cable holds
  c.drain = SimSpan::micros(2'000'000);  // several timeouts of 67 ms
  c.load = 0.8;
  const FatTreeResult r = run_fat_tree(c);
  EXPECT_GT(r.drops, 0u);
  EXPECT_GE(r.sent_again, static_cast<int64_t>(r.drops));
  EXPECT_EQ(r.all.unfinished, 0u);
}

TEST_P(EveryScheme, SameSeedSameRun) {
  FatTreeCase c = small_case(GetParam());
  c.duration = SimSpan::micros(500);
  const FatTreeResult a = run_fat_tree(c), b = run_fat_tree(c);
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.all.receiver.mean_us, b.all.receiver.mean_us);
  c.seed = 2;
  EXPECT_NE(run_fat_tree(c).events, a.events);
}

/// Runs `load` to its end.
void finish(Network& network, TransferLoad& load) {
  load.start();
  while (!load.done() && network.events().run_one()) {
  }
  ASSERT_TRUE(load.done());
}

std::unique_ptr<TransferLoad> make_load(Balancing scheme, Network& network, std::vector<Arrival> arrivals) {
  const FatTreeCase c;
  if (scheme == Balancing::kFlowcell)
    return std::make_unique<FlowcellLoad>(network, std::move(arrivals), c.flowcell, c.sender, c.receiver);
  return std::make_unique<SinglePathLoad>(network, std::move(arrivals), c.sender, c.receiver);
}

TEST_P(EveryScheme, ALoneTransferTakesTheTimeOfTheClosedForm) {
  for (const uint32_t destination : {1u, 15u, 127u}) {
    FatTree tree({});
    const auto load = make_load(GetParam(), tree.network(), {{{}, 0, destination, 32 << 10}});
    finish(tree.network(), *load);
    // The first frame is the longest, so nothing waits behind another than on the first link.
    const int64_t links = tree.network().base_rtt(0, destination, 0).ps / 2'000'000;
    const SimSpan first = Tick{}.serialise(kRoceFrames.data(4096, true) + kRoceFrames.gap, k100G);
    const SimSpan other = Tick{}.serialise(kRoceFrames.data(4096, false) + kRoceFrames.gap, k100G);
    EXPECT_EQ(load->transfers()[0].delivered - SimTime{}, first * links + other * 7 + SimSpan::micros(links));
  }
}

TEST_P(EveryScheme, NothingStaysInTheNetwork) {
  FatTree tree({.ports = 4});
  const auto load =
      make_load(GetParam(), tree.network(),
                draw_all_to_all({.sizes = kAliStorage2019, .hosts = 16, .duration = SimSpan::micros(500)}));
  finish(tree.network(), *load);
  tree.network().events().run_until(tree.network().now() + SimSpan::micros(1'000));
  EXPECT_EQ(tree.network().packets().in_use(), 0u);
}

// The NIC serves QPs in turn, so cells of one window end together, and the line rests for a round trip between
// windows.
TEST(Flowcell, ALargeTransferTakesAWindowEachRoundTrip) {
  FatTree tree({});
  const auto load = make_load(Balancing::kFlowcell, tree.network(), {{{}, 0, 127, 8 << 20}});
  finish(tree.network(), *load);
  const double line = (8 << 20) * 8e-5,
               windows = (8 << 20) / (192.0 * 1024);  // us; round trips of 12 us and a token's
  const double took = (load->transfers()[0].delivered - SimTime{}).us();
  EXPECT_GT(took, line);
  EXPECT_LT(took, line + windows * 14);
}

TEST(Flowcell, EndsOverADarkSwitchWhereOnePathDoesNot) {
  FatTreeCase c = small_case(Balancing::kFlowcell);
  c.tree.dark_core = 1;  // of four
  c.load = 0.2;
  c.drain = SimSpan::micros(400'000);
  c.flowcell.paths = 8;  // one of a pair's misses it in all draws but 1 of 65,000
  const FatTreeResult ours = run_fat_tree(c);
  EXPECT_EQ(ours.all.unfinished, 0u);
  EXPECT_EQ(ours.all.receiver.messages, transfers_of(c));
  EXPECT_GT(ours.lost, 0u);
  EXPECT_GT(ours.suspected, 0u);
  c.scheme = Balancing::kEcmp;
  EXPECT_GT(run_fat_tree(c).all.unfinished, 100u);
}

}  // namespace
}  // namespace matchrdma::sim
