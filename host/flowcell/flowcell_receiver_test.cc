// The receiving half alone: tails as they come, right and wrong ones.
#include <gtest/gtest.h>

#include "host/flowcell/flowcell_receiver.h"
#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_nic.h"

namespace matchrdma::host {
namespace {

/// Two slots, 16 generations; buffers of 1000 bytes, cells of 256.
struct Receiving {
  CellGrant grant() { return *receiver.receive_post(buffer).value(); }
  std::string tail(const CellGrant& g, uint32_t cell, const CellPlan& plan) {
    const auto message = static_cast<uint32_t>(g.message);
    const auto r = receiver.on_tail(shape.layout.pack({g.slot, cell, message}), plan);
    return r ? "" : r.error();
  }
  std::string tail(const CellGrant& g, uint32_t cell) { return tail(g, cell, {g.message, 1000, 256}); }
  void whole(const CellGrant& g) {
    for (uint32_t cell = 0; cell < 4; ++cell) EXPECT_EQ(tail(g, cell), "");
    const auto r = receiver.take_received();
    ASSERT_TRUE(r.has_value());
    EXPECT_EQ(r->message, g.message);
    EXPECT_EQ(r->length, 1000u);
  }

  ModelNet net{1, NicModel{}, NicModel{}};
  FlowcellShape shape{.slots = 2, .layout = {4, 24, 4}};
  std::vector<uint8_t> buffer = std::vector<uint8_t>(1000);
  FlowcellReceiver receiver{shape, net.nic(0)};
};

TEST(FlowcellReceiver, AMessageIsThereWhenEachOfItsTailsIs) {
  Receiving r;
  const CellGrant g = r.grant();
  for (const uint32_t cell : {3, 0, 1}) EXPECT_EQ(r.tail(g, cell), "");
  EXPECT_FALSE(r.receiver.take_received());
  EXPECT_EQ(r.receiver.under_way(), 1u);
  EXPECT_EQ(r.tail(g, 1), "") << "a copy";
  EXPECT_FALSE(r.receiver.take_received());
  EXPECT_EQ(r.tail(g, 2), "");
  EXPECT_TRUE(r.receiver.take_received());
  EXPECT_EQ(r.receiver.under_way(), 0u);
  EXPECT_EQ(r.receiver.counters().cells, 4u);
  EXPECT_EQ(r.receiver.counters().duplicates, 1u);
}

TEST(FlowcellReceiver, NoMoreThanItsSlotsAreGranted) {
  Receiving r;
  EXPECT_NE(r.grant().slot, r.grant().slot);
  EXPECT_FALSE(r.receiver.receive_post(r.buffer).value());
  EXPECT_FALSE(r.receiver.receive_post({}).ok() && r.receiver.under_way() > 2);
}

TEST(FlowcellReceiver, TailsOfMessagesThatAreThereSayNothing) {
  Receiving r;
  const CellGrant first = r.grant();
  r.whole(first);
  EXPECT_EQ(r.tail(first, 2), "") << "the slot is free";
  const CellGrant next = r.grant();
  EXPECT_EQ(r.tail(first, 2), "") << "the slot is another's";
  EXPECT_EQ(r.receiver.counters().stale, 2u);
  r.whole(next);
}

// A tail may lie in the completion queue while its message gets complete by other copies.
TEST(FlowcellReceiver, ASlotIsNotGrantedToAMessageThatLooksLikeItsLast) {
  Receiving r;
  const CellGrant slow = r.grant();  // 0
  for (uint64_t m = 1; m < 16; ++m) r.whole(r.grant());
  r.whole(slow);
  const CellGrant next = r.grant();
  EXPECT_EQ(next.message, 16u);  // the same in four bits
  EXPECT_EQ(r.tail(slow, 0, {next.message, 1000, 256}), "");
  EXPECT_EQ(r.receiver.counters().stale, 1u) << "a cell of message 0 was taken for one of message 16";
  r.whole(next);
}

TEST(FlowcellReceiver, ManyMessagesFindSlots) {
  Receiving r;
  CellGrant held = r.grant();
  for (uint64_t m = 1; m < 200; ++m) {
    const auto g = r.receiver.receive_post(r.buffer).value();
    if (!g || m % 7 == 0) {
      r.whole(held);
      held = g ? *g : r.grant();
    } else {
      r.whole(*g);
    }
  }
}

TEST(FlowcellReceiver, PlansThatDoNotMatchEndTheConnection) {
  for (const CellPlan& plan : {CellPlan{1, 1000, 256}, CellPlan{0, 0, 256}, CellPlan{0, 1001, 256},
                               CellPlan{0, 1000, 0}, CellPlan{}, CellPlan{0, UINT64_MAX, UINT32_MAX}}) {
    Receiving r;
    const CellGrant g = r.grant();
    EXPECT_NE(r.tail(g, 0, plan).find("is what was granted"), std::string::npos) << plan.length;
    EXPECT_EQ(r.receiver.under_way(), 1u);
  }
}

TEST(FlowcellReceiver, APlanThatChangesEndsTheConnection) {
  Receiving r;
  const CellGrant g = r.grant();
  EXPECT_EQ(r.tail(g, 0), "");
  EXPECT_NE(r.tail(g, 1, {g.message, 1000, 250}), "");
  EXPECT_NE(r.tail(g, 1, {g.message, 900, 256}), "");
  EXPECT_NE(r.tail(g, 4), "") << "there are four";
}

// H13: the highest number is the probe's.
TEST(FlowcellReceiver, ProbesAreNoCells) {
  Receiving r;
  const CellGrant g = r.grant();
  EXPECT_EQ(r.tail(g, (1u << 24) - 1), "");
  EXPECT_EQ(r.tail({.slot = 9}, 0), "") << "no such slot";
  EXPECT_EQ(r.receiver.counters().probes, 2u);
  EXPECT_FALSE(r.receiver.slot_of(r.shape.layout.pack({0, (1u << 24) - 1, 0})));
  EXPECT_EQ(r.receiver.slot_of(r.shape.layout.pack({1, (1u << 24) - 2, 0})), 1u);
}

// As many cells as there are numbers but the probe's.
TEST(FlowcellReceiver, AMessageOfMoreCellsThanNumbersIsRefused) {
  Receiving r;
  r.shape.layout = {4, 2, 26};
  FlowcellReceiver small(r.shape, r.net.nic(0));
  const CellGrant g = *small.receive_post(r.buffer).value();
  EXPECT_FALSE(small.on_tail(r.shape.layout.pack({g.slot, 0, 0}), {0, 1000, 256}).ok());
  EXPECT_TRUE(small.on_tail(r.shape.layout.pack({g.slot, 0, 0}), {0, 1000, 334}).ok());
}

}  // namespace
}  // namespace matchrdma::host
