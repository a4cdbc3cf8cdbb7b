// What an old life of a QP, or of what passed before its base, must not leave to the next (C4, C5).
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tags/pair_rig.h"

namespace matchrdma::tags {
namespace {

template <typename M>
void lose_all(Queue& q) {
  std::erase_if(q, [](const Left& l) { return !l.packet && std::holds_alternative<M>(l.message); });
}

// Whoever asked must not begin while the far side may still deliver what is left of the old life (seed 784 of
// the swarm).
TEST(Tags, C4_RegisteredResetIsDoneWhenTheOldLifeHasEnded) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  Ends again;
  again.start_a = 7000;
  ASSERT_TRUE(rig.register_at_a(rig.registration(again)));
  lose_all<FlowClose>(rig.a.wan);
  rig.carry();
  EXPECT_FALSE(rig.a.shard.registered(rig.registration(again)));
  rig.run(Duration::millis(100));
  EXPECT_TRUE(rig.a.shard.registered(rig.registration(again)));
}

// The receiver's ACKs of an old life speak of other PSNs (seed 4592 of the swarm).
TEST(Tags, C5_AckOfTheOldLifeLiftsNoBarrierOfTheNext) {
  PairRig rig;
  rig.connect();
  rig.restart(rig.b);
  rig.run(Duration::millis(25));
  rig.from_a(write_only(110));  // opens a flow with a barrier
  rig.run(Duration::millis(25));
  rig.from_a(write_only(111));
  rig.carry();
  rig.from_b(answer(111, 12));
  rig.run(Duration::millis(25));
  ASSERT_EQ(state_at(rig.a, true), "active");
  Ends again;
  again.start_a = 20;
  ASSERT_TRUE(rig.register_at_a(rig.registration(again)));
  rig.run(Duration::millis(100));
  rig.a.lan.clear();
  rig.from_a(write_only(20));
  rig.run(Duration::millis(25));
  rig.from_a(write_only(21));
  rig.run(Duration::millis(5));
  EXPECT_EQ(state_at(rig.a, true), "barrier");
  EXPECT_TRUE(acks(rig.a.lan).empty());
  rig.from_b(answer(21, 2));
  rig.run(Duration::millis(25));
  EXPECT_EQ(state_at(rig.a, true), "active");
}

/// A fresh flow whose base the far side knows and has not been heard to know.
void hear_no_base_answer(PairRig& rig) {
  ASSERT_TRUE(rig.register_at_a(rig.registration()));
  for (int i = 0; i < 10; ++i) {
    rig.carry_ab();
    lose_all<FlowBaseAck>(rig.b.wan);
    rig.carry_ba();
  }
  ASSERT_EQ(state_at(rig.a, true), "basing");
}

// What the LAN brings out of order before base is answered passes without a copy, and the far side, which knows
// base, reports it (seed 2893 of the swarm).
TEST(Tags, C5_WhatPassedUnkeptIsConfirmedAllTheSame) {
  PairRig rig;
  hear_no_base_answer(rig);
  rig.from_a(write_only(101));
  rig.from_a(write_only(100));
  EXPECT_EQ(rig.a.shard.owned_packets(), 1u);
  rig.carry_ab();
  EXPECT_EQ(psns(rig.b.lan), (Psns{100, 101}));
  rig.from_b(answer(101, 2));
  lose_messages(rig.b.wan);
  rig.run(Duration::millis(200));
  EXPECT_EQ(state_at(rig.a, true), "active");
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  rig.from_a(write_only(102));
  EXPECT_EQ(acks(rig.a.lan).back(), 102u);
}

// Without room for a copy nothing from base on can be promised, and a READ in that place would be unknown (seed
// 3633967092 of the swarm): the flow begins anew behind what has passed.
TEST(Tags, C5_WithoutRoomForACopyTheFlowBeginsAnew) {
  RigOptions o;
  o.config.limits.custody_hard_bytes = o.config.limits.reserve_bytes_per_flow = 200;
  PairRig rig(o);
  hear_no_base_answer(rig);
  rig.from_a(write_only(100));
  EXPECT_EQ(rig.a.shard.owned_packets(), 1u);
  rig.from_a(write_only(101));
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  rig.run(Duration::millis(200));
  EXPECT_EQ(psns(rig.b.lan), (Psns{100, 101})) << "both pass";
  EXPECT_TRUE(acks(rig.a.lan).empty()) << "nobody but the receiver may acknowledge them";
  rig.from_b(answer(101, 2));
  rig.run(Duration::seconds(2));
  for (uint32_t psn = 102; psn < 105; ++psn) {
    rig.from_a(write_only(psn));
    rig.run(Duration::millis(50));
    rig.from_b(answer(psn, psn - 99));
    rig.run(Duration::millis(50));
  }
  EXPECT_EQ(state_at(rig.a, true), "active");
}

}  // namespace
}  // namespace matchrdma::tags
