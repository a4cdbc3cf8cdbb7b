// Budgets: what the destination records and asks for, what the source makes of a BUDGET (PROTOCOL 6, 7;
// ESTIMATOR).
#include <gtest/gtest.h>

#include "tests/tags/pair_rig.h"

namespace matchrdma::tags {
namespace {

constexpr Duration kSlot = Duration::millis(1);

RigOptions with_slots() {
  RigOptions o;
  o.config.tuning.slot = kSlot;
  return o;
}

GroupKey receiver_b(const PairRig& rig) { return GroupKey::of(rig.registration().flow(true)); }

Rate rate_at_a(const PairRig& rig) {
  for (const GroupView& g : rig.a.shard.groups(rig.now())) {
    if (g.key == receiver_b(rig)) return g.rate;
  }
  return Rate{-1};
}

/// The records of the next slot that ends at proxy B; none within two slots: empty.
std::vector<GroupSlot> next_closed_at_b(PairRig& rig) {
  for (int i = 0; i < 40; ++i) {
    rig.wait(kSlot / 20);
    const auto closed = rig.b.shard.closed_slots();
    if (!closed.empty()) return {closed.begin(), closed.end()};
  }
  return {};
}

Budget budget(const PairRig& rig, int64_t mbps, uint64_t seq, Duration validity = Duration::millis(4)) {
  return {receiver_b(rig), Rate{mbps * 1'000'000}, validity, seq};
}

TEST(Tags, E7_ABudgetThatNobodyRenewsIsHalvedDownToTheFloor) {
  PairRig rig;
  rig.connect();
  rig.say(rig.a, budget(rig, 80'000, 1));
  EXPECT_EQ(rate_at_a(rig), Rate{80'000'000'000});
  rig.wait(Duration::millis(3));
  EXPECT_EQ(rate_at_a(rig), Rate{80'000'000'000});
  EXPECT_FALSE(rig.a.shard.groups(rig.now())[0].expired);
  rig.wait(Duration::millis(2));
  EXPECT_TRUE(rig.a.shard.groups(rig.now())[0].expired);
  EXPECT_EQ(rate_at_a(rig), Rate{40'000'000'000});
  rig.wait(Duration::millis(4));
  EXPECT_EQ(rate_at_a(rig), Rate{20'000'000'000});
  rig.wait(Duration::millis(100));
  EXPECT_EQ(rate_at_a(rig), Rate{1'000'000'000}) << "1 % of what the policy allows";
  rig.say(rig.a, budget(rig, 80'000, 2));
  EXPECT_EQ(rate_at_a(rig), Rate{80'000'000'000}) << "and the next one holds at once";
}

// The gate itself, not only what is shown of it.
TEST(Tags, E7_AnExpiredBudgetHoldsBackWhatIsSent) {
  RigOptions o;
  o.config.tuning.budget = Rate{100'000'000};  // its floor is 1 Mb/s
  o.config.tuning.budget_burst_bytes = 2000;
  PairRig rig(o);
  rig.connect();
  const auto sent_in = [&rig](Duration d) {
    const uint64_t before = rig.a.shard.counters().admitted_bytes;
    rig.wait(d);
    return rig.a.shard.counters().admitted_bytes - before;
  };
  rig.say(rig.a, budget(rig, 8, 1, Duration::millis(20)));  // 1 kB a millisecond
  for (uint32_t psn = 100; psn < 500; ++psn) rig.from_a(write_only(psn));
  const uint64_t fresh = sent_in(Duration::millis(15));
  rig.wait(Duration::millis(10));
  const uint64_t halved = sent_in(Duration::millis(14));
  EXPECT_NEAR(static_cast<double>(fresh), 15'000, 500);
  EXPECT_NEAR(static_cast<double>(halved), 7'000, 500);
}

TEST(Tags, E7_OldAndSenselessBudgetsChangeNothing) {
  PairRig rig;
  rig.connect();
  rig.say(rig.a, budget(rig, 50'000, 7));
  for (const Budget& b : {budget(rig, 10'000, 7), budget(rig, 10'000, 3), budget(rig, 0, 8), budget(rig, -5, 8),
                          budget(rig, 10'000, 8, Duration{}), budget(rig, 10'000, 8, Duration{-1})}) {
    rig.say(rig.a, b);
    EXPECT_EQ(rate_at_a(rig), Rate{50'000'000'000});
  }
  Budget stranger = budget(rig, 10'000, 8);
  stranger.group.dst.b[15] ^= 0x55;
  const size_t known = rig.a.shard.groups(rig.now()).size();
  rig.say(rig.a, stranger);
  EXPECT_EQ(rig.a.shard.groups(rig.now()).size(), known) << "no state for a receiver that nothing was sent to";
  EXPECT_EQ(rig.a.shard.counters().reasons[Reason::kStaleMessage], 6u);
}

TEST(Tags, E7_TheOperatorsRateIsTheMost) {
  RigOptions o;
  o.config.tuning.budget = Rate{10'000'000'000};
  PairRig rig(o);
  rig.connect();
  rig.say(rig.a, budget(rig, 80'000, 1));
  EXPECT_EQ(rate_at_a(rig), Rate{10'000'000'000});
  rig.say(rig.a, budget(rig, 2'000, 2));
  EXPECT_EQ(rate_at_a(rig), Rate{2'000'000'000});
}

// A new life of the peer numbers from the beginning, and may make no budgets at all.
/// One rate for all receivers.
struct OneRate : FlowPolicy {
  explicit OneRate(int64_t mbps) : rate{mbps * 1'000'000} {}
  bool learns() const override { return true; }
  Completion completion(const FlowKey&, uint8_t, std::optional<Completion>) const override {
    return Completion::kEarly;
  }
  uint32_t weight(const FlowKey&, uint8_t) const override { return 1; }
  Budget budget(const GroupKey&) const override { return {rate, 1 << 20}; }
  Rate rate;
};

// The last word to an idle receiver holds for an hour: a rate that the operator lowers meanwhile counts at
// once.
TEST(Tags, E7_APolicyThatIsLoweredBoundsWhatThePeerTold) {
  PairRig rig;
  rig.connect();
  rig.say(rig.a, budget(rig, 8'000, 1, Duration::seconds(3600)));
  const OneRate low(5), high(90'000);
  rig.a.shard.set_policy(&low, rig.now(), rig.a.out);
  EXPECT_EQ(rate_at_a(rig), low.rate);
  rig.a.shard.set_policy(&high, rig.now(), rig.a.out);
  EXPECT_EQ(rate_at_a(rig), low.rate) << "until the peer says more";
  rig.say(rig.a, budget(rig, 8'000, 2));
  EXPECT_EQ(rate_at_a(rig), Rate{8'000'000'000});
}

TEST(Tags, E7_BudgetsOfAPeerThatStartedAnewAreOver) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.carry();
  rig.say(rig.a, budget(rig, 2'000, 900));
  rig.restart(rig.b);
  EXPECT_EQ(rate_at_a(rig), Tuning{}.budget);
  rig.say(rig.a, budget(rig, 3'000, 1));
  EXPECT_EQ(rate_at_a(rig), Rate{3'000'000'000});
}

TEST(Tags, E6_AReceiverThatNobodyHasTestedBeginsWithAQuarter) {
  PairRig rig(with_slots());
  rig.connect();
  EXPECT_EQ(rate_at_a(rig), Rate{Tuning{}.egress.bps / 4});
  rig.wait(Duration::seconds(100));
  EXPECT_EQ(rate_at_a(rig), Rate{Tuning{}.egress.bps / 4}) << "until something came, nothing is renewed";
  PairRig fixed;
  fixed.connect();
  EXPECT_EQ(rate_at_a(fixed), Tuning{}.budget) << "where nobody makes budgets the policy's rate holds";
}

TEST(Tags, E2_SlotsCountWhatCameLeftAndWasAcknowledged) {
  PairRig rig(with_slots());
  rig.connect();
  rig.wait(kSlot * 3 / 2);
  for (uint32_t psn = 100; psn < 110; ++psn) rig.from_a(write_only(psn));
  rig.carry();
  const uint64_t size = rig.b.lan[0].packet->size;
  rig.from_b(answer(104));
  const std::vector<GroupSlot> seen = next_closed_at_b(rig);
  ASSERT_EQ(seen.size(), 1u);
  const SlotRecord& r = seen[0].record;
  EXPECT_EQ(seen[0].group, receiver_b(rig));
  EXPECT_EQ(r.arrived_bytes, 10 * size);
  EXPECT_EQ(r.egress_bytes, 10 * size);
  EXPECT_EQ(r.acked_bytes, 5 * size);
  EXPECT_EQ(r.unacked_bytes, 5 * size);
  EXPECT_EQ(r.backlog_bytes, 0u);
  EXPECT_EQ(r.packets, 5u);
  EXPECT_EQ(r.ack_delay.count, 1u);
  EXPECT_TRUE(seen[0].more);
}

// What belongs to no flow of ours uses the receiver's capacity as well.
TEST(Tags, E2_TrafficOutsideCountsToo) {
  PairRig rig(with_slots());
  rig.connect();
  RoceSpec uc = write_only(5);
  uc.opcode = 0x2a;  // UC WRITE Only
  rig.wait(kSlot * 3 / 2);
  rig.to_b_wan(uc);
  const std::vector<GroupSlot> seen = next_closed_at_b(rig);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_GT(seen[0].record.arrived_bytes, 0u);
  EXPECT_EQ(seen[0].record.acked_bytes, seen[0].record.arrived_bytes);
}

// A receiver that acknowledges once a message shows nothing in the slots of a long one.
TEST(Tags, E2_ThePacketsOfASlotAskForAcksSeveralTimes) {
  PairRig rig(with_slots());
  rig.connect();
  size_t asked = 0;
  rig.from_a(write_part(op::kRcWriteFirst, 100));
  for (uint32_t psn = 101; psn < 140; ++psn) {
    rig.from_a(write_part(op::kRcWriteMiddle, psn));
    rig.carry();
    rig.wait(kSlot / 20);
    rig.carry();
  }
  for (const Left& l : rig.b.lan)
    if (l.packet && l.frame().ack_req()) ++asked;
  EXPECT_GE(asked, 12u);
  EXPECT_LE(asked, 24u);
  PairRig fixed;
  fixed.connect();
  fixed.from_a(write_part(op::kRcWriteFirst, 100));
  for (uint32_t psn = 101; psn < 140; ++psn) fixed.from_a(write_part(op::kRcWriteMiddle, psn));
  fixed.carry();
  for (const Left& l : fixed.b.lan) EXPECT_FALSE(l.packet && l.frame().ack_req());
}

// An ACK of a packet that was sent twice answers one of the two; nobody knows which.
TEST(Tags, E1_NoDelayIsTakenFromAPacketSentTwice) {
  PairRig rig(with_slots());
  rig.connect();
  rig.wait(kSlot * 3 / 2);
  rig.from_a(write_only(100));
  rig.carry();
  rig.from_b(answer(100, 0, kNakSequence));
  rig.from_b(answer(100));
  const std::vector<GroupSlot> seen = next_closed_at_b(rig);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_GT(seen[0].record.acked_bytes, 0u);
  EXPECT_EQ(seen[0].record.ack_delay.count, 0u);
}

// A CNP cuts the egress to what the receiver takes; the first ACK that is not late ends that.
TEST(Tags, E9_ACnpPacesTheReceiver) {
  PairRig rig(with_slots());
  rig.connect();
  rig.from_a(write_only(100));
  rig.carry();
  rig.from_b(cnp());
  EXPECT_EQ(rig.b.shard.counters().receiver_cnps, 1u);
  for (uint32_t psn = 101; psn < 300; ++psn) rig.from_a(write_only(psn));
  rig.carry();
  // Nothing was acknowledged: 1 % of 100 Gb/s, and two jumbo frames at once.
  const size_t bytes = 18'432 / rig.b.lan[0].packet->size;
  EXPECT_NEAR(static_cast<double>(psns(rig.b.lan, Cause::kFirst).size()), static_cast<double>(bytes), 3);
  rig.from_b(answer(100));
  rig.run(Duration::micros(1));
  EXPECT_EQ(psns(rig.b.lan, Cause::kFirst).size(), 200u);
}

}  // namespace
}  // namespace matchrdma::tags
