// Flowcell over the model fabric: what HOST.md promises of it, in virtual time.
#include <gtest/gtest.h>

#include <array>

#include "host/flowcell/cell_size.h"
#include "tests/host/flowcell_draw.h"

namespace matchrdma::host::test {
namespace {

constexpr uint64_t kMiB = 1 << 20;

/// Paths of 25 Gb/s with a round trip of a millisecond, and hosts that look often.
FlowcellRigSettings usual(uint32_t paths, Duration one_way = Duration::micros(500), double gigabits = 25) {
  FlowcellRigSettings s;
  PathModel m;
  m.gigabits = gigabits;
  m.delay = one_way;
  s.there.assign(paths, m);
  s.back.assign(paths, m);
  FlowcellOptions& o = s.flowcell;
  o.shape.paths = paths;
  o.shape.slots = 4;
  o.shape.layout = *ImmediateLayout::of(4, 1 << 16);
  o.rate = {static_cast<int64_t>(gigabits * 1e9)};
  o.round_trip = one_way * 2;
  s.control_delay = one_way;
  s.traffic = {.messages = 1, .least_bytes = 64 * kMiB, .most_bytes = 64 * kMiB, .buffers = 1};
  return s;
}

double seconds(Instant t) { return static_cast<double>(t.ns) * 1e-9; }

TEST(Flowcell, MovesEveryByteBothWays) {
  FlowcellRigSettings s = usual(4);
  s.traffic = {.messages = 40, .least_bytes = 1, .most_bytes = 3 * kMiB, .buffers = 4};
  s.messages_back = 20;
  FlowcellRig rig(s);
  EXPECT_EQ(rig.run(), "");
  EXPECT_EQ(rig.delivered(), 60u);
  EXPECT_EQ(rig.a().sender().counters().duplicates, 0u);
  EXPECT_EQ(rig.net().nic(1).counters().no_receive, 0u) << "a tail always finds a receive";
  for (uint32_t p = 0; p < 4; ++p) EXPECT_GT(rig.a().sender().view(p).cells, 10u) << "path " << p;
}

/// From the first byte to the last buffer that is free again, of plain RC writes: half a MiB each, as many at a
/// time as the send queue takes.
Instant plain_writes(const FlowcellRigSettings& s) {
  ModelNet net(s.seed, s.nic, s.nic);
  net.set_path(0, s.there[0]);
  net.set_path(1, s.back[0]);
  std::vector<uint8_t> from(s.traffic.most_bytes), to(s.traffic.most_bytes);
  const Region r = *net.nic(1).add_region(to, Access::kRemoteWrite);
  std::array<QpHandle, 2> qp{*net.nic(0).create_qp({.transport = Transport::kRc}),
                             *net.nic(1).create_qp({.transport = Transport::kRc})};
  for (uint32_t e = 0; e < 2; ++e)
    EXPECT_TRUE(net.nic(e)
                    .connect(qp[e], net.nic(1 - e).address(qp[1 - e]), {.path_mtu = s.flowcell.shape.path_mtu})
                    .ok());
  size_t posted = 0, done = 0;
  constexpr size_t kPiece = 512 << 10;
  std::vector<Completion> out(64);
  while (done < from.size()) {
    for (bool taken = true; taken && posted < from.size();) {
      const SendRequest w{.op = SendRequest::Op::kWrite,
                          .signalled = true,
                          .data = Bytes(from).subspan(posted, kPiece),
                          .remote = posted,
                          .rkey = r.rkey};
      taken = net.nic(0).post_send(qp[0], {&w, 1}) == 1;
      if (taken) posted += kPiece;
    }
    net.run_until(net.now() + Duration::micros(1));
    done += kPiece * net.nic(0).poll(out);
  }
  return net.now();
}

TEST(Flowcell, OnePathAloneIsAsFastAsPlainWrites) {
  for (const Duration one_way : {Duration::micros(10), Duration::micros(500), Duration::millis(5)}) {
    FlowcellRigSettings s = usual(1, one_way, 10);
    s.traffic = {.messages = 16, .least_bytes = 16 * kMiB, .most_bytes = 16 * kMiB, .buffers = 5};
    FlowcellRig rig(s);
    ASSERT_EQ(rig.run(), "");
    FlowcellRigSettings plain = s;
    plain.traffic.least_bytes = plain.traffic.most_bytes = 16 * s.traffic.most_bytes;
    // Both from the time when their queue pairs are connected.
    const double ours = seconds(rig.net().now() - s.control_delay * 2), theirs = seconds(plain_writes(plain));
    RecordProperty("ratio_" + std::to_string(one_way.ns / 1000) + "us", std::to_string(ours / theirs));
    EXPECT_LT(ours, 1.02 * theirs) << one_way.ns / 1000 << " us one way";
  }
}

/// Bytes that B has, so long after the first byte left.
uint64_t progress_at(FlowcellRig& rig, Duration t) {
  EXPECT_EQ(rig.run_until(Instant{} + t), "");
  return rig.a().sender().confirmed_bytes();
}

// Progress lost, against three paths from that moment on, in round trips of all four.
TEST(Flowcell, KillingOneOfFourPathsCostsAtMostTwoRoundTrips) {
  for (const Duration one_way : {Duration::micros(500), Duration::millis(5)}) {
    for (int64_t offset = 0; offset < 5; ++offset) {
      const double gigabits = 5 * 500e3 / static_cast<double>(one_way.ns);
      FlowcellRigSettings s = usual(4, one_way, gigabits);
      s.traffic = {.messages = 32, .least_bytes = 4 * kMiB, .most_bytes = 4 * kMiB, .buffers = 32};
      s.flowcell.shape.slots = 32;
      s.flowcell.shape.layout = *ImmediateLayout::of(32, 1 << 16);
      const Duration kill = one_way * 20 + one_way * offset / 3, until = kill + one_way * 2 * 20;
      FlowcellRig whole(s);
      s.events.push_back({kill, PathEvent::Kind::kBreak, 1, 0});
      FlowcellRig broken(s);
      const uint64_t before = progress_at(whole, kill);
      const auto all = static_cast<double>(progress_at(whole, until) - before);
      const auto got = static_cast<double>(progress_at(broken, until) - before);
      const double lost = (all * 3 / 4 - got) / bytes_in({static_cast<int64_t>(4e9 * gigabits)}, one_way * 2);
      RecordProperty("round_trips_" + std::to_string(one_way.ns / 1000) + "us_" + std::to_string(offset),
                     std::to_string(lost));
      EXPECT_LE(broken.a().sender().counters().failed, 2u) << "a late copy took more than its path down";
      EXPECT_LT(lost, 2) << one_way.ns / 1000 << " us one way, killed " << offset << " thirds later";
      EXPECT_FALSE(whole.done());
    }
  }
}

TEST(Flowcell, OneSlowPathDoesNotHoldTheOthersUp) {
  for (const bool far : {false, true}) {  // ten times less bandwidth, or ten times longer
    FlowcellRigSettings s = usual(4, Duration::micros(500), 4);
    s.flowcell.least_cell = kMiB;
    s.traffic = {.messages = 24, .least_bytes = 16 * kMiB, .most_bytes = 16 * kMiB, .buffers = 6};
    FlowcellRigSettings three = s;
    three.flowcell.shape.paths = 3;
    three.there.resize(3);
    three.back.resize(3);
    (far ? s.there[3].delay.ns : s.back[3].delay.ns) *= far ? 10 : 1;
    if (!far) s.there[3].gigabits /= 10;
    FlowcellRig with(s), without(three);
    ASSERT_EQ(with.run(), "");
    ASSERT_EQ(without.run(), "");
    const double cost = seconds(with.net().now()) / seconds(without.net().now());
    RecordProperty(far ? "far" : "narrow", std::to_string(cost));
    EXPECT_LT(cost, 1.05) << "far " << far;
  }
}

// H9: behind proxies that answer for the far end only silence of the peer shows a dead path.
TEST(Flowcell, ADeadPathBehindCustodyIsFoundBySilence) {
  FlowcellRigSettings s = usual(4);
  s.custody.assign(4, true);
  s.flowcell.soft_floor = Duration::millis(100);
  s.traffic.messages = 4;
  s.events.push_back({Duration::millis(5), PathEvent::Kind::kBreak, 2, 0});
  FlowcellRig rig(s);
  EXPECT_EQ(rig.run(), "");
  EXPECT_EQ(rig.a().sender().counters().failed, 1u);
  EXPECT_EQ(rig.a().sender().counters().suspected, 1u);
  EXPECT_GT(rig.net().now(), Instant{} + Duration::millis(400));
}

// A protection switch of 50 ms must not throw custody away.
TEST(Flowcell, AProtectionSwitchIsNoFailureBehindProxies) {
  FlowcellRigSettings s = usual(2);
  s.custody.assign(2, true);
  s.flowcell.soft_floor = Duration::millis(100);
  s.traffic.messages = 4;
  for (uint32_t p = 0; p < 2; ++p) {
    s.events.push_back({Duration::millis(5), PathEvent::Kind::kBreak, p, 0});
    s.events.push_back({Duration::millis(55), PathEvent::Kind::kMend, p, 0});
  }
  FlowcellRig rig(s);
  EXPECT_EQ(rig.run(), "");
  EXPECT_EQ(rig.a().sender().counters().failed, 0u);
  EXPECT_EQ(rig.a().sender().counters().duplicates, 0u);
}

TEST(Flowcell, AMendedPathIsUsedAgain) {
  FlowcellRigSettings s = usual(2);
  s.traffic = {.messages = 20, .least_bytes = 32 * kMiB, .most_bytes = 32 * kMiB, .buffers = 4};
  s.events = {{Duration::millis(10), PathEvent::Kind::kBreak, 1, 0},
              {Duration::millis(40), PathEvent::Kind::kMend, 1, 0}};
  FlowcellRig rig(s);
  ASSERT_EQ(rig.run_until(Instant{} + Duration::millis(39)), "");
  EXPECT_NE(rig.a().sender().view(1).state, FlowcellSender::PathState::kGood);
  const uint64_t cells = rig.a().sender().view(1).cells;
  EXPECT_EQ(rig.run(), "");
  EXPECT_GT(rig.a().sender().view(1).cells, cells);
}

TEST(Flowcell, ALongerMessageThanItsBufferIsRefused) {
  FlowcellRigSettings s = usual(1);
  const NicModel nic;
  ModelNet net(1, nic, nic);
  auto end = FlowcellEnd::make(s.flowcell, net.nic(0), {});
  ASSERT_TRUE(end.ok());
  const std::vector<uint8_t> data(5000);
  (*end)->sender().send(data, 0);
  EXPECT_TRUE((*end)->on_control(CellGrant{0, 0, 1, 0, 4000}, {}));
  const auto sent = (*end)->sender().take_sent();
  ASSERT_TRUE(sent.has_value());
  EXPECT_EQ(sent->error, "a message of 5000 bytes met a buffer of 4000: post longer buffers, or send less");
}

TEST(Flowcell, EndsOfDifferentOptionsAreRefused) {
  FlowcellRigSettings s = usual(2);
  const NicModel nic;
  ModelNet net(1, nic, nic, 2);
  auto a = FlowcellEnd::make(s.flowcell, net.nic(0), {});
  s.flowcell.shape.slots = 2;
  auto b = FlowcellEnd::make(s.flowcell, net.nic(1), {});
  ASSERT_TRUE(a.ok() && b.ok());
  for (const ControlMessage& m : (*b)->take_control()) EXPECT_TRUE((*a)->on_control(m, {}));
  EXPECT_NE((*a)->error().find("different options"), std::string::npos);
}

}  // namespace
}  // namespace matchrdma::host::test
