#include "sim/shared_buffer.h"

#include <gtest/gtest.h>

#include "dataplane/base/prng.h"
#include "sim/ecn_marker.h"
#include "sim/egress_queues.h"

namespace matchrdma::sim {
namespace {

constexpr Rate k100G{100'000'000'000};
const LinkSpec kShort{};                   // 100 Gb/s, 1 us
const LinkSpec kLong{k100G, fibre(1000)};  // headroom 187.5 MB

SharedBuffer two_ports(BufferSettings s, const LinkSpec& second = kShort) {
  SharedBuffer b(s);
  b.add_port(kShort);
  b.add_port(second);
  return b;
}

TEST(SharedBuffer, ThresholdIsAShareOfWhatIsFree) {
  SharedBuffer b = two_ports({.bytes = 1'083'192});
  EXPECT_EQ(b.headroom(0), 37'500);  // SIMULATOR 3
  EXPECT_EQ(b.threshold(0), 1'000'000 / 8);
  b.charge(0, 3, 4096);  // the reserved bytes take nothing of what is shared
  EXPECT_EQ(b.threshold(0), 1'000'000 / 8);
  b.charge(0, 3, 8000);
  EXPECT_EQ(b.threshold(0), 992'000 / 8);
  b.release(0, 3, 12'096);
  EXPECT_EQ(b.threshold(0), 1'000'000 / 8);
  EXPECT_EQ(b.used(), 0);
  EXPECT_EQ(b.peak(), 12'096);
}

TEST(SharedBuffer, ShiftIsLessOnFasterPorts) {
  for (const auto& [rate, share] : {std::pair{100, 8}, {200, 4}, {400, 2}, {1600, 1}}) {
    SharedBuffer b({});
    b.add_port({Rate{rate * 1'000'000'000ll}, SimSpan{}});
    EXPECT_EQ(b.threshold(0), ((32 << 20) - 4096) / share) << rate;
  }
}

TEST(SharedBuffer, PausesAtTheThresholdAndResumesBelowIt) {
  SharedBuffer b = two_ports({.bytes = 1'083'192});
  int64_t charged = 0;
  while (!b.should_pause(0, 3)) {
    ASSERT_TRUE(b.admits(0, 3, 1000));
    b.charge(0, 3, 1000);
    charged += 1000;
  }
  // shared >= (1,000,000 - shared) / 8, so at a ninth.
  EXPECT_NEAR(static_cast<double>(charged - 4096), 1e6 / 9, 1000);
  EXPECT_FALSE(b.should_pause(0, 3)) << "once";
  EXPECT_FALSE(b.should_pause(0, 4)) << "another class";
  EXPECT_FALSE(b.should_resume(0, 3));
  int64_t released = 0;
  while (!b.should_resume(0, 3)) {
    b.release(0, 3, 1000);
    released += 1000;
  }
  EXPECT_GE(released, 3 * 1000);  // 3 KiB below, less what the threshold gains by what is free
  EXPECT_LE(released, 4 * 1000);
  EXPECT_FALSE(b.should_resume(0, 3)) << "once";
}

TEST(SharedBuffer, HeadroomTakesWhatIsUnderWayAndNoMore) {
  SharedBuffer b = two_ports({.bytes = 1'083'192});
  int64_t charged = 0;
  while (b.admits(0, 3, 1000)) {
    b.charge(0, 3, 1000);
    charged += 1000;
  }
  EXPECT_NEAR(static_cast<double>(charged), 4096 + 1e6 / 9 + 37'500, 2000);
  EXPECT_TRUE(b.should_pause(0, 3));
  b.release(0, 3, 36'000);  // headroom goes first
  EXPECT_FALSE(b.should_resume(0, 3));
  EXPECT_TRUE(b.admits(0, 3, 1000));
}

TEST(SharedBuffer, ALongPortLeavesSomethingToOthers) {
  constexpr int64_t kMemory = 32 << 20;
  SharedBuffer ours = two_ports({}, kLong);
  EXPECT_EQ(ours.headroom(0), 37'500) << "a short cable keeps what it needs";
  EXPECT_EQ(ours.headroom(1), kMemory / 2 - 37'500);
  EXPECT_EQ(ours.threshold(0), (kMemory / 2 - 2 * 4096) / 8);
  SharedBuffer larger = two_ports({.bytes = 400 << 20}, kLong);
  EXPECT_EQ(larger.headroom(1), 187'500'000);

  SharedBuffer hpcc = two_ports({.threshold_wraps = true}, kLong);
  EXPECT_EQ(hpcc.headroom(1), 187'500'000);
  EXPECT_GT(hpcc.threshold(0), 500'000'000);  // SIMULATOR 3, defect 1
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_TRUE(hpcc.admits(0, 3, 1000));
    hpcc.charge(0, 3, 1000);
    ASSERT_FALSE(hpcc.should_pause(0, 3));
  }
}

TEST(EcnMarker, FollowsItsCurve) {
  const EcnMarker m(EcnSettings::hpcc(k100G));
  Prng prng(1);
  const auto share = [&](int64_t queue) {
    int marked = 0;
    for (int i = 0; i < 100'000; ++i) marked += m.marks(queue, prng);
    return marked / 1e5;
  };
  EXPECT_EQ(share(400'000), 0);
  EXPECT_NEAR(share(1'000'000), 0.1, 0.005);
  EXPECT_NEAR(share(1'600'000), 0.2, 0.005);
  EXPECT_EQ(share(1'600'001), 1);
  EXPECT_EQ(EcnSettings::hpcc(Rate{400'000'000'000}).kmax_bytes, 6'400'000);
}

TEST(EgressQueues, ControlFirstThenClassesInTurnUnderTheMask) {
  EgressQueues q;
  PauseState pauses;
  SimPacket packets[7];
  const uint32_t classes[7] = {3, 3, 5, 5, 7, 0, 0};
  for (size_t i = 0; i < 7; ++i) {
    packets[i].size = 100;
    q.push(&packets[i], classes[i]);
  }
  EXPECT_EQ(q.bytes(), 700);
  pauses.apply(7, true, SimTime{10});
  const auto next = [&] {
    uint32_t queue = 99;
    return q.pop(pauses, queue) == nullptr ? 99 : queue;
  };
  for (const uint32_t expected : {0u, 0u, 3u, 5u, 3u, 5u, 99u}) EXPECT_EQ(next(), expected);
  pauses.apply(7, false, SimTime{30});
  EXPECT_EQ(next(), 7u);
  EXPECT_EQ(q.peak_bytes(), 700);
  EXPECT_EQ(pauses.paused_for(7, SimTime{99}).ps, 20);
}

}  // namespace
}  // namespace matchrdma::sim
