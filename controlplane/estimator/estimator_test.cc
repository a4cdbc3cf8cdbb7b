#include "controlplane/estimator/estimator.h"

#include <gtest/gtest.h>

#include "controlplane/estimator/test_receiver.h"

namespace matchrdma {
namespace {

constexpr Duration kSpan = Duration::micros(500);
constexpr int kH = 6;

TEST(Estimator, GroupsAreActiveFromTheirFirstBytesToASecondAfterTheLast) {
  Estimator e(EstimatorSettings{}, 4096);
  EXPECT_TRUE(e.close(0).empty());
  e.record(7, {});
  EXPECT_TRUE(e.close(1).empty()) << "an empty record wakes nobody";
  EXPECT_EQ(e.bytes(), 0u);
  e.record(7, {.arrived_bytes = 1000});
  ASSERT_EQ(e.close(2).size(), 1u);
  EXPECT_EQ(e.close(3).front().group, 7u);
  EXPECT_GT(e.bytes(), 0u);
  EXPECT_EQ(e.close(2 + 5000).size(), 1u);
  EXPECT_TRUE(e.close(2 + 5001).empty());
  EXPECT_EQ(e.bytes(), 0u) << "idle groups cost nothing";
  EXPECT_EQ(e.active(7), nullptr);
}

TEST(Estimator, TheCapacityLevelAndSequenceOutliveIdleTimes) {
  Estimator e(EstimatorSettings{}, 2);
  e.place(0, {.one_way = kSpan});
  TestReceiver rx(kH);
  int64_t slot = 0;
  for (; slot < 2000; ++slot) {
    e.record(0, rx.slot(80));
    rx.budget(e.close(slot).front().slot->why.granted);
  }
  e.close(slot + 10'000);
  e.record(0, {.arrived_bytes = 1000});
  const SlotOutput& out = *e.close(slot + 20'000).front().slot;
  EXPECT_NEAR(out.why.c, 80, 1);
  EXPECT_EQ(out.budget.seq, 2001u) << "a source ignores what is older";
}

// Receivers of 100 Gb/s behind a port of 150: one may have all of its own line, both together the port's.
TEST(Estimator, APortMayBeFasterThanAReceiver) {
  Estimator e(EstimatorSettings{.port_rate = Rate{150'000'000'000}}, 2);
  TestReceiver rx[2] = {TestReceiver(kH), TestReceiver(kH)};
  double alone = 0, both = 0;
  for (int64_t slot = 0; slot < 4000; ++slot) {
    const bool second = slot >= 2000;
    e.record(0, rx[0].slot(100));
    if (second) e.record(1, rx[1].slot(100));
    both = 0;
    for (const GroupOutput& o : e.close(slot)) {
      rx[o.group].budget(o.slot->why.granted);
      both += o.slot->why.granted;
    }
    if (!second) alone = both;
  }
  EXPECT_GT(alone, 95);
  EXPECT_GT(both, 140);
  EXPECT_LE(both, 150.01);
}

TEST(Estimator, RecordsOfWorkersAreMerged) {
  Estimator e(EstimatorSettings{}, 1);
  e.record(0, {.acked_bytes = 500'000});
  e.record(0, {.acked_bytes = 250'000});
  EXPECT_DOUBLE_EQ(e.close(0).front().slot->why.sample.acked, 30);
  EXPECT_DOUBLE_EQ(e.close(1).front().slot->why.sample.acked, 0) << "each slot anew";
}

TEST(Estimator, ASlotThatDoesNotRiseKeepsTheRecords) {
  Estimator e(EstimatorSettings{}, 1);
  e.record(0, {.acked_bytes = 500'000});
  e.close(5);
  e.record(0, {.acked_bytes = 250'000});
  EXPECT_TRUE(e.close(5).empty());
  EXPECT_TRUE(e.close(4).empty());
  EXPECT_DOUBLE_EQ(e.close(6).front().slot->why.sample.acked, 10);
}

/// Groups behind one port, each with a capacity of its own beyond it.
class PortTest : public ::testing::Test {
 protected:
  void run(int slots, const std::vector<double>& demand) {
    while (rx_.size() < demand.size()) rx_.emplace_back(kH);
    for (int i = 0; i < slots; ++i, ++slot_) {
      for (uint32_t g = 0; g < demand.size(); ++g) e_.record(g, rx_[g].slot(90, demand[g]));
      for (const GroupOutput& o : e_.close(slot_)) rx_[o.group].budget(o.slot->why.granted);
    }
  }
  double granted(uint32_t g) { return e_.active(g)->output().why.granted; }
  Estimator e_{EstimatorSettings{}, 8};
  std::vector<TestReceiver> rx_;
  int64_t slot_ = 0;
};

TEST_F(PortTest, GroupsBehindOnePortShareItsRate) {
  e_.place(0, {.port = 1, .weight = 1, .one_way = kSpan});
  e_.place(1, {.port = 1, .weight = 3, .one_way = kSpan});
  run(3000, {100, 100});
  ASSERT_EQ(e_.ports().size(), 1u);
  EXPECT_EQ(e_.ports()[0].groups, 2u);
  EXPECT_GT(e_.ports()[0].wanted, 100);
  EXPECT_LE(e_.ports()[0].granted, 100 + 1e-6);
  EXPECT_NEAR(granted(0), 25, 1);
  EXPECT_NEAR(granted(1), 75, 1);
}

TEST_F(PortTest, WhoAsksForLittleLeavesTheRest) {
  e_.place(0, {.port = 1, .one_way = kSpan});
  e_.place(1, {.port = 1, .one_way = kSpan});
  run(3000, {5, 100});
  EXPECT_GT(granted(1), 80);
  EXPECT_GE(granted(0), 5);
}

TEST_F(PortTest, OtherPortsAreNotAsked) {
  e_.place(0, {.port = 1, .one_way = kSpan});
  e_.place(1, {.port = 2, .one_way = kSpan});
  run(3000, {100, 100});
  ASSERT_EQ(e_.ports().size(), 2u);
  EXPECT_NEAR(granted(0), 90, 2);
  EXPECT_NEAR(granted(1), 90, 2);
}

TEST_F(PortTest, OutputsStandByPortAndNumber) {
  e_.place(0, {.port = 2, .one_way = kSpan});
  e_.place(2, {.port = 1, .one_way = kSpan});
  for (uint32_t g : {2u, 1u, 0u}) e_.record(g, {.arrived_bytes = 1});
  std::vector<uint32_t> order;
  for (const GroupOutput& o : e_.close(0)) order.push_back(o.group);
  EXPECT_EQ(order, (std::vector<uint32_t>{1, 2, 0}));
}

}  // namespace
}  // namespace matchrdma
