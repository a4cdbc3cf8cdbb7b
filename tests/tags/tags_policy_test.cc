// What an operator decides: traffic classes (C7), drain (PROTOCOL 8).
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tags/pair_rig.h"

namespace matchrdma::tags {
namespace {

/// Early for one DSCP, transparent for all others.
struct ByDscp : FlowPolicy {
  explicit ByDscp(uint8_t d) : dscp(d) {}
  bool learns() const override { return true; }
  Completion completion(const FlowKey&, uint8_t d, std::optional<Completion>) const override {
    return d == dscp ? Completion::kEarly : Completion::kTransparent;
  }
  uint32_t weight(const FlowKey&, uint8_t) const override { return 1; }
  Budget budget(const GroupKey&) const override { return {Rate{1'000'000'000}, 1 << 20}; }
  uint8_t dscp;
};

RigOptions with(const FlowPolicy& p) {
  RigOptions o;
  o.config.policy = &p;
  o.fresh = false;
  return o;
}

/// A request of this DSCP and its answer, so that a barrier may lift.
void talk(PairRig& rig, uint32_t psn, uint8_t dscp) {
  rig.from_a(write_only(psn), {}, static_cast<uint8_t>(dscp << 2 | 2));
  rig.run(Duration::millis(5));
  rig.from_b(answer(psn, psn - 99));
  rig.run(Duration::millis(5));
}

TEST(Tags, C7_ClassIsThatOfTheFirstRequest) {
  const ByDscp policy(26);
  for (const uint8_t dscp : {uint8_t{26}, uint8_t{10}}) {
    PairRig rig(with(policy));
    ASSERT_TRUE(rig.register_at_a(rig.registration()));
    rig.run(Duration::millis(1));
    for (uint32_t psn = 100; psn < 104; ++psn) talk(rig, psn, dscp);
    EXPECT_EQ(rig.a.shard.counters().pseudo_acks > 0, dscp == 26);
    EXPECT_EQ(state_at(rig.a, true), dscp == 26 ? "active" : "transparent");
  }
}

/// One answer for flows whose registration asks for nothing.
struct ByClass : FlowPolicy {
  explicit ByClass(Completion c) : named(c) {}
  bool learns() const override { return true; }
  Completion completion(const FlowKey&, uint8_t, std::optional<Completion> registered) const override {
    return registered.value_or(named);
  }
  uint32_t weight(const FlowKey&, uint8_t) const override { return 1; }
  Budget budget(const GroupKey&) const override { return {Rate{1'000'000'000}, 1 << 20}; }
  Completion named;
};

/// All early; DSCP 26 weighs three.
struct Weighted : FlowPolicy {
  bool learns() const override { return true; }
  Completion completion(const FlowKey&, uint8_t, std::optional<Completion>) const override {
    return Completion::kEarly;
  }
  uint32_t weight(const FlowKey&, uint8_t dscp) const override { return dscp == 26 ? 3 : 1; }
  Budget budget(const GroupKey&) const override { return {Rate{100'000'000}, 1}; }
};

// ESTIMATOR 10, also where the budget opens for a packet at a time.
TEST(Tags, E10_FlowsShareTheirReceiversBudgetByWeight) {
  const Weighted policy;
  RigOptions o;
  o.config.policy = &policy;
  PairRig rig(o);
  const Ends heavy, light{Qpn{0x13}, Qpn{0x24}, 20'000, 30'000};
  rig.connect(heavy);
  rig.connect(light);
  constexpr uint32_t kEach = 1000, kSeen = 800;
  for (uint32_t i = 0; i < kEach; ++i) {
    rig.from_a(write_only(heavy.start_a + i), heavy, 26 << 2 | 2);
    rig.from_a(write_only(light.start_a + i), light);
  }
  rig.a.wan.clear();
  for (int i = 0; i < 200 && psns(rig.a.wan).size() < kSeen; ++i) rig.wait(Duration::micros(100));
  const Psns sent = psns(rig.a.wan);
  ASSERT_GE(sent.size(), kSeen);
  const auto of_heavy =
      std::count_if(sent.begin(), sent.begin() + kSeen, [&](uint32_t psn) { return psn < light.start_a; });
  EXPECT_NEAR(static_cast<double>(of_heavy) / kSeen, 0.75, 0.05);
}

TEST(Tags, C7_RegistrationThatNamesNoCompletionTakesThatOfTheClass) {
  for (const Completion named : {Completion::kEarly, Completion::kTransparent}) {
    const ByClass policy(named);
    RigOptions o = with(policy);
    o.fresh = true;
    PairRig rig(o);
    Registration r = rig.registration();
    r.completion.reset();
    ASSERT_TRUE(rig.register_at_a(r));
    rig.run(Duration::millis(50));
    EXPECT_TRUE(rig.a.shard.registered(r));
    rig.from_a(write_only(100));
    EXPECT_EQ(acks(rig.a.lan).size(), named == Completion::kEarly ? 1u : 0u);
    rig.from_b(write_only(5000));
    EXPECT_EQ(acks(rig.b.lan).size(), named == Completion::kEarly ? 1u : 0u);
  }
}

TEST(Tags, C7_FlowThatMayNotBeProxiedAnyMoreDrainsFirst) {
  const ByDscp before(26), after(10);
  PairRig rig(with(before));
  ASSERT_TRUE(rig.register_at_a(rig.registration()));
  rig.run(Duration::millis(1));
  for (uint32_t psn = 100; psn < 102; ++psn) talk(rig, psn, 26);
  ASSERT_EQ(state_at(rig.a, true), "active");
  rig.from_a(write_only(102), {}, 26 << 2 | 2);
  rig.a.shard.set_policy(&after, rig.now(), rig.a.out);
  EXPECT_EQ(rig.a.shard.owned_packets(), 1u);
  rig.a.out.clear();
  rig.run(Duration::millis(5));
  rig.from_b(answer(102, 3));
  rig.run(Duration::millis(5));
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  EXPECT_EQ(state_at(rig.a, true), "transparent");
  rig.a.shard.set_policy(&before, rig.now(), rig.a.out);
  rig.a.out.clear();
  for (uint32_t psn = 103; psn < 106; ++psn) talk(rig, psn, 26);
  EXPECT_EQ(state_at(rig.a, true), "active");
}

// A class is drained by a policy that calls it transparent and is never installed.
TEST(Tags, S8_DrainOfAClassLeavesTheOtherAndLaterFlowsAlone) {
  const ByDscp policy(26), others(10);
  PairRig rig(with(policy));
  ASSERT_TRUE(rig.register_at_a(rig.registration()));
  rig.run(Duration::millis(1));
  for (uint32_t psn = 100; psn < 102; ++psn) talk(rig, psn, 26);
  rig.a.shard.drain_flows(policy, rig.now(), rig.a.out);  // calls other classes transparent, not this one
  EXPECT_EQ(state_at(rig.a, true), "active");
  rig.from_a(write_only(102), {}, 26 << 2 | 2);
  rig.a.shard.drain_flows(others, rig.now(), rig.a.out);
  rig.a.out.clear();
  EXPECT_EQ(rig.a.shard.owned_packets(), 1u);  // what was promised is delivered first
  rig.run(Duration::millis(5));
  rig.from_b(answer(102, 3));
  rig.run(Duration::millis(5));
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  EXPECT_EQ(state_at(rig.a, true), "transparent");
  for (uint32_t psn = 103; psn < 106; ++psn) talk(rig, psn, 26);
  EXPECT_EQ(state_at(rig.a, true), "transparent");
  const Ends later{.a = Qpn{0x31}, .b = Qpn{0x42}};
  ASSERT_TRUE(rig.register_at_a(rig.registration(later)));
  rig.run(Duration::millis(1));
  const uint64_t acks = rig.a.shard.counters().pseudo_acks;
  for (uint32_t psn = 100; psn < 103; ++psn) {
    rig.from_a(write_only(psn), later, 26 << 2 | 2);
    rig.run(Duration::millis(5));
    rig.from_b(answer(psn, psn - 99), later);
    rig.run(Duration::millis(5));
  }
  EXPECT_GT(rig.a.shard.counters().pseudo_acks, acks);
}

// A host that died never unregisters: its pairs must not fill the table for ever.
TEST(Tags, S3_RegistrationIsLeased) {
  RigOptions o;
  o.config.timing.registration_lease = Duration::seconds(100);
  PairRig rig(o);
  rig.connect();
  const auto known = [&] { return rig.a.shard.flows().size() + rig.b.shard.flows().size(); };
  EXPECT_EQ(known(), 4u);
  rig.run(Duration::seconds(90));
  EXPECT_EQ(known(), 4u);
  ASSERT_TRUE(rig.register_at_a(rig.registration()));  // renews it here and at the peer
  rig.run(Duration::seconds(90));
  EXPECT_EQ(known(), 4u);
  rig.run(Duration::seconds(90));
  EXPECT_EQ(known(), 0u);
  ASSERT_TRUE(rig.register_at_a(rig.registration()));
  rig.run(Duration::millis(10));
  EXPECT_EQ(known(), 4u);
  EXPECT_TRUE(rig.a.shard.registered(rig.registration()));
}

TEST(Flows, InPiecesAsInOne) {
  PairRig rig;
  for (uint32_t k = 0; k < 5; ++k) rig.connect({.a = Qpn{0x100 + k}, .b = Qpn{0x200 + k}});
  const auto all = rig.a.shard.flows();
  ASSERT_EQ(all.size(), 10u);
  for (const size_t piece : {1, 3, 10, 11}) {
    std::vector<FlowView> joined;
    size_t at = 0;
    do {
      at = rig.a.shard.flows(at, piece, joined);
    } while (at != 0);
    ASSERT_EQ(joined.size(), all.size());
    for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(joined[i].key, all[i].key);
  }
}

TEST(Tags, S8_DrainLosesNothingAndEndsTransparent) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.carry();
  rig.from_b(write_only(5000));  // the other way: B is the source
  rig.carry();
  rig.drain(rig.a, true);
  EXPECT_FALSE(rig.a.shard.drained());
  rig.from_a(write_only(101));  // above E: behind custody
  EXPECT_EQ(rig.a.shard.owned_packets(), 1u);
  rig.run(Duration::millis(5));
  EXPECT_EQ(psns(rig.b.lan, Cause::kFirst), (Psns{100}));
  EXPECT_FALSE(rig.a.shard.drained());
  rig.from_b(answer(100, 1));
  rig.run(Duration::millis(5));
  EXPECT_EQ(psns(rig.b.lan).back(), 101u);
  EXPECT_FALSE(rig.a.shard.drained());  // the peer still owns 5000 for our host
  rig.from_a(answer(5000, 1));
  rig.run(Duration::millis(200));
  EXPECT_TRUE(rig.a.shard.drained());
  EXPECT_EQ(state_at(rig.a, true), "transparent");
  EXPECT_EQ(state_at(rig.b, true), "transparent");
  rig.a.lan.clear();
  rig.from_a(write_only(102));
  rig.carry();
  EXPECT_EQ(psns(rig.b.lan).back(), 102u);
  EXPECT_TRUE(rig.a.lan.empty());
}

TEST(Tags, S8_DrainThatIsTakenBackLetsFlowsOpenAgain) {
  PairRig rig;
  rig.connect();
  rig.drain(rig.a, true);
  rig.run(Duration::millis(200));
  ASSERT_TRUE(rig.a.shard.drained());
  rig.drain(rig.a, false);
  rig.run(Duration::millis(20));
  for (uint32_t psn = 100; psn < 104; ++psn) talk(rig, psn, 0);
  EXPECT_EQ(state_at(rig.a, true), "active");
}

TEST(Tags, S8_DrainEndsWithTheProxyThatAskedForIt) {
  PairRig rig;
  rig.connect();
  rig.drain(rig.a, true);
  rig.run(Duration::millis(200));
  rig.restart(rig.a);
  rig.run(Duration::millis(20));
  rig.from_b(write_only(5000));
  rig.run(Duration::millis(5));
  rig.from_a(answer(5000, 1));
  rig.run(Duration::millis(5));
  EXPECT_NE(state_at(rig.b, true), "transparent");
}

TEST(Tags, TuningCountsFromNowOn) {
  RigOptions o;
  o.throttled();
  o.config.timing.hold_max = Duration::seconds(10);
  PairRig rig(o);
  rig.connect();
  rig.from_a(write_only(100));
  rig.from_a(write_only(101));
  rig.from_a(write_only(102));
  rig.wait(Duration::micros(10));
  ASSERT_EQ(acks(rig.a.lan).back(), 100u);
  o.config.timing.hold_max = Duration::micros(1);
  rig.a.shard.set_tuning(o.config.timing, o.config.tuning, rig.now(), rig.a.out);
  rig.from_a(write_only(103));
  rig.wait(Duration::micros(10));
  EXPECT_EQ(acks(rig.a.lan).back(), 103u);
}

TEST(Tags, S8_OneFlowDrains) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  EXPECT_TRUE(rig.a.shard.drain_flow(rig.registration().flow(true), rig.now(), rig.a.out));
  EXPECT_FALSE(rig.a.shard.drain_flow(rig.registration().flow(false), rig.now(), rig.a.out));
  rig.a.out.clear();
  rig.run(Duration::millis(5));
  rig.from_b(answer(100, 1));
  rig.run(Duration::millis(5));
  EXPECT_EQ(state_at(rig.a, true), "transparent");
}

}  // namespace
}  // namespace matchrdma::tags
