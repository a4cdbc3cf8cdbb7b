// The sending half over real queues of the model, with a peer that answers only when it is told to.
#include <gtest/gtest.h>

#include <array>

#include "host/flowcell/flowcell_sender.h"
#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_nic.h"

namespace matchrdma::host {
namespace {

constexpr uint32_t kCell = 1024;
using PathState = FlowcellSender::PathState;

FlowcellOptions small_cells(uint32_t paths) {
  FlowcellOptions o;
  o.shape = {.paths = paths, .path_mtu = 256, .slots = 4, .ring = 32, .layout = {}};
  o.least_cell = o.most_cell = kCell;
  o.send_queue = 64;
  o.receive_queue = 16;
  o.timeout_exponent = 10;  // 4 ms
  return o;
}

/// Cells of 1024 bytes; round trips of 20 us. T_soft is 1 s until a path has been measured, 2 ms and a bit
/// later.
struct Sending {
  explicit Sending(uint32_t paths, const FlowcellOptions& with)
      : options(with),
        net(1, NicModel{}, NicModel{}, paths),
        sender(options),
        near(paths),
        far(paths),
        arrived(paths) {
    region = *net.nic(1).add_region(target, Access::kRemoteWrite);
    for (uint32_t p = 0; p < paths; ++p) up(p, 1);
  }
  explicit Sending(uint32_t paths) : Sending(paths, small_cells(paths)) {}

  void up(uint32_t path, uint32_t epoch) {
    near[path] = std::move(*CellQueue::open(options, net.nic(0), path, epoch));
    far[path] = std::move(*CellQueue::open(options, net.nic(1), path, epoch));
    ASSERT_TRUE(far[path]->connect(near[path]->address()).ok());
    ASSERT_TRUE(near[path]->connect(far[path]->address()).ok());
    sender.path_up(path, *near[path], net.now(), epoch > 1);
  }
  void lossy(uint32_t path, double loss) {
    PathModel m;
    m.loss = loss;
    net.set_path(0, m, path);
  }
  uint64_t send(size_t cells) { return sender.send(Bytes(source).first(cells * kCell), 0); }
  bool grant(uint64_t message, uint32_t slot, uint64_t length = 64 * kCell) {
    return sender.on_grant({message, slot, region.rkey, region.remote, length});
  }
  /// The peer's NIC and the peer; no token leaves.
  void run(Duration d = Duration::micros(200)) {
    EXPECT_TRUE(sender.poll(net.now()));
    net.run_until(net.now() + d);
    std::array<Completion, 64> done;
    for (size_t n = net.nic(1).poll(done), i = 0; i < n; ++i)
      for (uint32_t p = 0; p < far.size(); ++p)
        if (far[p]->qp() == done[i].qp && far[p]->take(done[i]))
          arrived[p].push_back(options.shape.layout.unpack(done[i].immediate));
    for (const auto& q : far) q->repost();
  }
  void token(uint32_t path) {
    EXPECT_TRUE(far[path]->post_token({}));
    net.run_until(net.now() + Duration::micros(200));
    EXPECT_TRUE(sender.poll(net.now()));
  }
  /// Completions of what was sent.
  void complete() {
    std::array<Completion, 64> done;
    for (size_t n = net.nic(0).poll(done), i = 0; i < n; ++i)
      for (const auto& q : near)
        if (q->qp() == done[i].qp) q->take(done[i]);
    EXPECT_TRUE(sender.poll(net.now()));
  }
  void cycle(uint32_t path) {
    run();
    token(path);
    complete();
  }
  /// A path that has answered once, so that its T_soft is small.
  void measure(uint32_t path, uint64_t message) {
    send(1);
    ASSERT_TRUE(grant(message, 0));
    cycle(path);
    ASSERT_EQ(sender.take_sent()->message, message);
  }
  std::optional<uint64_t> sent() {
    const auto s = sender.take_sent();
    return s ? std::optional(s->message) : std::nullopt;
  }

  FlowcellOptions options;
  ModelNet net;
  FlowcellSender sender;
  std::vector<std::unique_ptr<CellQueue>> near, far;
  std::vector<std::vector<PacketTag>> arrived;  ///< tails, by path
  std::vector<uint8_t> source = std::vector<uint8_t>(64 * kCell, 5), target = std::vector<uint8_t>(64 * kCell);
  Region region;
};

// C1: that the NIC has sent it says nothing.
TEST(FlowcellSender, ACompletionReleasesNothing) {
  Sending s(1);
  s.send(1);
  ASSERT_TRUE(s.grant(0, 0));
  s.run();
  s.complete();
  EXPECT_EQ(s.near[0]->completed(), 2u) << "plan and cell";
  EXPECT_FALSE(s.sent());
  EXPECT_EQ(s.sender.confirmed_bytes(), 0u);
  s.token(0);
  EXPECT_EQ(s.sent(), 0u);
}

// The peer has it, but the NIC may have to send it again: the acknowledgement was lost.
TEST(FlowcellSender, ATokenReleasesNothingThatTheNicMayRead) {
  Sending s(1);
  s.send(1);
  ASSERT_TRUE(s.grant(0, 0));
  s.run();
  s.token(0);
  EXPECT_EQ(s.sender.confirmed_bytes(), kCell);
  EXPECT_FALSE(s.sent());
  s.complete();
  EXPECT_EQ(s.sent(), 0u);
}

/// Message `message` of one cell lies on path 0, which is silent.
void stuck_on_path_0(Sending& s, uint64_t message, uint32_t slot) {
  s.lossy(0, 1);
  s.send(1);
  ASSERT_TRUE(s.grant(message, slot));
  s.run(Duration::millis(1100));
  ASSERT_EQ(s.sender.view(0).in_flight, kCell);
  s.run();
  ASSERT_EQ(s.sender.view(0).state, PathState::kSuspect);
}

// Rule 2: another copy has been confirmed, this one may still come.
TEST(FlowcellSender, ACopyOnASilentPathKeepsTheBuffer) {
  Sending s(2);
  stuck_on_path_0(s, 0, 0);
  EXPECT_EQ(s.arrived[1].size(), 1u) << "sent another way";
  s.token(1);
  s.complete();
  EXPECT_EQ(s.sender.confirmed_bytes(), kCell);
  EXPECT_FALSE(s.sent());
  s.sender.path_down(0, s.net.now());
  s.complete();
  EXPECT_FALSE(s.sent()) << "a path that is down is not fenced";
  EXPECT_TRUE(s.sender.path_fenced(0, 0, s.net.now()));
  EXPECT_EQ(s.sent(), 0u);
}

TEST(FlowcellSender, WhatTheFenceTellsIsConfirmed) {
  Sending s(2);
  s.lossy(0, 1);
  s.send(3);
  ASSERT_TRUE(s.grant(0, 0));
  s.run();
  const uint64_t lost = s.sender.view(0).in_flight / kCell;
  ASSERT_GE(lost, 1u);
  if (lost < 3) s.token(1);
  s.complete();
  s.sender.path_down(0, s.net.now());
  EXPECT_TRUE(s.sender.path_fenced(0, lost, s.net.now()));
  s.complete();
  EXPECT_EQ(s.sent(), 0u);
  EXPECT_EQ(s.sender.counters().duplicates, lost < 3 ? 0 : s.sender.counters().duplicates);
}

TEST(FlowcellSender, AFenceThatTellsWhatIsNotSoIsRefused) {
  Sending s(1);
  s.send(3);
  ASSERT_TRUE(s.grant(0, 0));
  s.run();
  s.token(0);
  s.sender.path_down(0, s.net.now());
  EXPECT_FALSE(s.sender.path_fenced(0, 2, s.net.now())) << "three were confirmed";
  EXPECT_FALSE(s.sender.path_fenced(0, 4, s.net.now())) << "three were posted";
  EXPECT_FALSE(s.sender.path_fenced(0, UINT64_MAX, s.net.now()));
  EXPECT_TRUE(s.sender.path_fenced(0, 3, s.net.now()));
}

TEST(FlowcellSender, ACellWhoseCopiesAreAllGoneIsSentAgain) {
  Sending s(2);
  s.lossy(1, 1);
  stuck_on_path_0(s, 0, 0);
  s.run(Duration::millis(1100));
  s.run();
  ASSERT_EQ(s.sender.view(1).state, PathState::kSuspect);
  for (uint32_t p = 0; p < 2; ++p) {
    s.sender.path_down(p, s.net.now());
    EXPECT_TRUE(s.sender.path_fenced(p, 0, s.net.now()));
  }
  s.lossy(1, 0);
  s.up(1, 2);
  s.cycle(1);  // the probe
  s.cycle(1);
  EXPECT_EQ(s.sent(), 0u);
}

// H12: before all that is new, in their order.
TEST(FlowcellSender, TheCellsOfAFailedPathGoFirst) {
  Sending s(2);
  s.lossy(0, 1);
  s.send(64);
  ASSERT_TRUE(s.grant(0, 0));
  for (int i = 0; i < 3; ++i) {
    s.run();
    s.complete();
  }
  s.run();
  const size_t lost = s.sender.view(0).in_flight / kCell, came = s.arrived[1].size();
  ASSERT_GT(lost, 2u);
  ASSERT_LT(lost + came, 64u) << "there is more";
  s.sender.path_down(0, s.net.now());
  EXPECT_TRUE(s.sender.path_fenced(0, 0, s.net.now()));
  s.token(1);
  s.run();
  ASSERT_GE(s.arrived[1].size(), came + lost);
  std::vector<bool> had(64);
  for (size_t i = 0; i < came; ++i) had[s.arrived[1][i].index] = true;
  uint32_t wanted = 0;
  for (size_t i = came; i < came + lost; ++i, ++wanted) {
    while (had[wanted]) ++wanted;
    EXPECT_EQ(s.arrived[1][i].index, wanted);
  }
}

// Most of them have come, and a copy that comes when its message is there costs the other path its queue pair.
TEST(FlowcellSender, TheCellsOfAPathThatWasNotSilentWaitForItsFence) {
  for (const bool answered : {true, false}) {
    Sending s(2);
    s.send(8);
    ASSERT_TRUE(s.grant(0, 0));
    s.run();
    const size_t other = s.arrived[1].size();
    ASSERT_EQ(s.arrived[0].size() + other, 8u);
    s.token(1);
    s.sender.path_down(0, s.net.now());
    s.run(Duration::millis(900));
    EXPECT_EQ(s.sender.counters().duplicates, 0u);
    if (answered) {
      EXPECT_TRUE(s.sender.path_fenced(0, s.arrived[0].size(), s.net.now()));
    }
    s.run(Duration::millis(200));
    s.run();
    EXPECT_EQ(s.arrived[1].size(), answered ? other : 8u);
    s.token(1);
    EXPECT_EQ(s.sender.confirmed_bytes(), 8 * kCell);
  }
}

// The peer has the message that was in the slot, though no token said so. What was behind a plan is not sent
// again: its own would stand in the place of the next one's.
TEST(FlowcellSender, ASlotThatIsGrantedAgainConfirms) {
  Sending s(2);
  stuck_on_path_0(s, 0, 0);
  s.send(1);
  EXPECT_TRUE(s.grant(1, 0));
  EXPECT_EQ(s.sender.confirmed_bytes(), kCell);
  const uint64_t again = s.sender.counters().duplicates;
  s.sender.path_down(0, s.net.now());
  s.run();
  s.token(1);
  s.complete();
  EXPECT_EQ(s.sent(), 1u);
  EXPECT_EQ(s.sender.counters().duplicates, again);
  EXPECT_TRUE(s.sender.path_fenced(0, 0, s.net.now()));
  EXPECT_EQ(s.sent(), 0u);
}

// An older message of the slot is still here, for a silent path has a copy of it.
TEST(FlowcellSender, ASlotThatIsGrantedAgainConfirmsEachMessageThatHadIt) {
  Sending s(3);
  stuck_on_path_0(s, 0, 0);
  s.token(s.sender.view(1).in_flight > 0 ? 1 : 2);
  s.complete();
  s.send(1);
  ASSERT_TRUE(s.grant(1, 0));
  s.run();
  const uint32_t other = s.sender.view(1).in_flight > 0 ? 1 : 2;
  ASSERT_EQ(s.sender.view(other).in_flight, kCell);
  s.send(1);
  ASSERT_TRUE(s.grant(2, 0)) << "the peer has message 1";
  const uint64_t again = s.sender.counters().duplicates;
  s.sender.path_down(other, s.net.now());
  EXPECT_TRUE(s.sender.path_fenced(other, s.far[other]->tails() - 1, s.net.now())) << "all but message 1";
  s.run();
  s.run();
  EXPECT_EQ(s.sender.counters().duplicates, again) << "message 1 was sent behind the plan of message 2";
}

TEST(FlowcellSender, ASlotThatIsBeingFilledIsNotGranted) {
  Sending s(1);
  s.send(64);
  ASSERT_TRUE(s.grant(0, 0));
  s.run();
  s.send(1);
  EXPECT_FALSE(s.grant(1, 0));
}

TEST(FlowcellSender, AMessageIsGrantedOnce) {
  Sending s(1);
  s.send(64);
  ASSERT_TRUE(s.grant(0, 0));
  s.run();
  EXPECT_FALSE(s.grant(0, 1)) << "a second place for it";
  EXPECT_FALSE(s.grant(0, 1, 1)) << "a shorter one";
  EXPECT_FALSE(s.sent());
  for (int i = 0; i < 8; ++i) s.cycle(0);
  EXPECT_EQ(s.sent(), 0u);
}

TEST(FlowcellSender, GrantsAheadAreNoMoreThanSlots) {
  Sending s(1);
  EXPECT_TRUE(s.grant(0, 0));
  EXPECT_TRUE(s.grant(1, 1));
  EXPECT_FALSE(s.grant(2, 1)) << "the slot waits for message 1";
  EXPECT_FALSE(s.grant(1, 2)) << "granted before";
  s.send(1);
  s.cycle(0);
  EXPECT_EQ(s.sent(), 0u);
  EXPECT_TRUE(s.grant(4, 0)) << "it was given back";
  EXPECT_TRUE(s.grant(0, 3)) << "nobody asks for it any more";
}

TEST(FlowcellSender, ATokenThatCountsTooManyConfirmsNothing) {
  Sending s(1);
  s.send(2);
  ASSERT_TRUE(s.grant(0, 0));
  s.run();
  s.complete();
  for (int i = 0; i < 3; ++i) s.far[0]->take({.kind = Completion::Kind::kReceiveImm, .qp = s.far[0]->qp()});
  ASSERT_TRUE(s.far[0]->post_token({}));
  s.net.run_until(s.net.now() + Duration::millis(1));
  EXPECT_FALSE(s.sender.poll(s.net.now()));
  EXPECT_EQ(s.sender.confirmed_bytes(), 0u);
  EXPECT_FALSE(s.sent());
}

TEST(FlowcellSender, SilenceIsSuspectedThenDead) {
  Sending s(1);
  s.measure(0, 0);
  s.lossy(0, 1);
  s.send(1);
  ASSERT_TRUE(s.grant(1, 0));
  s.run(Duration::millis(2));
  s.run(Duration::millis(1));
  EXPECT_EQ(s.sender.view(0).state, PathState::kGood);
  s.run(Duration::millis(6));
  EXPECT_EQ(s.sender.view(0).state, PathState::kSuspect);
  EXPECT_FALSE(s.sender.dead_path(s.net.now()));
  s.run(Duration::millis(2));
  EXPECT_EQ(s.sender.dead_path(s.net.now()), 0u);
}

TEST(FlowcellSender, ASuspectThatSpeaksIsGood) {
  Sending s(1);
  s.measure(0, 0);
  s.send(1);
  ASSERT_TRUE(s.grant(1, 0));
  s.run(Duration::millis(3));
  s.run();
  ASSERT_EQ(s.sender.view(0).state, PathState::kSuspect);
  EXPECT_EQ(s.sender.counters().probes, 1u);
  s.token(0);
  s.complete();
  EXPECT_EQ(s.sender.view(0).state, PathState::kGood);
  EXPECT_EQ(s.sent(), 1u);
}

// A host that slept has not looked; a path that lost its last packet speaks when it is asked.
TEST(FlowcellSender, OnesOwnSleepIsNoSilence) {
  Sending s(1);
  s.measure(0, 0);
  s.lossy(0, 1);
  s.send(1);
  ASSERT_TRUE(s.grant(1, 0));
  s.run(Duration::millis(1));
  s.lossy(0, 0);
  s.net.run_until(s.net.now() + Duration::seconds(1));
  EXPECT_TRUE(s.sender.poll(s.net.now()));
  EXPECT_FALSE(s.sender.dead_path(s.net.now())) << "it was asked just now";
  s.cycle(0);
  EXPECT_EQ(s.sender.view(0).state, PathState::kGood);
  EXPECT_EQ(s.sent(), 1u);
}

// C3: it shows itself before cells go there.
TEST(FlowcellSender, ARebuiltPathIsProbed) {
  Sending s(1);
  s.sender.path_down(0, s.net.now());
  EXPECT_TRUE(s.sender.path_fenced(0, 0, s.net.now()));
  s.up(0, 2);
  s.send(1);
  ASSERT_TRUE(s.grant(0, 0));
  s.run();
  ASSERT_EQ(s.arrived[0].size(), 1u);
  EXPECT_EQ(s.arrived[0][0].index, (1u << s.options.shape.layout.index_bits) - 1);
  EXPECT_EQ(s.sender.view(0).state, PathState::kProbing);
  s.token(0);
  EXPECT_EQ(s.sender.view(0).state, PathState::kGood);
  s.cycle(0);
  EXPECT_EQ(s.sent(), 0u);
}

// Neither a copy nor what was asked about is a sample.
TEST(FlowcellSender, CopiesAreNoSamples) {
  Sending s(2);
  stuck_on_path_0(s, 0, 0);
  const Duration before = s.sender.view(1).round_trip;
  s.token(1);
  s.complete();
  EXPECT_EQ(s.sender.confirmed_bytes(), kCell);
  EXPECT_EQ(s.sender.view(1).round_trip, before);
}

// H10: however late the peer looks, and whatever its clock shows.
TEST(FlowcellSender, TheTimeThatATailLayAtThePeerIsNoRoundTrip) {
  Sending s(1);
  s.send(1);
  ASSERT_TRUE(s.grant(0, 0));
  s.run();
  s.net.run_until(s.net.now() + Duration::millis(50));
  EXPECT_TRUE(s.far[0]->post_token(Duration::millis(50)));
  s.run();
  s.run();
  EXPECT_LT(s.sender.view(0).round_trip, Duration::millis(1));
  EXPECT_GT(s.sender.view(0).round_trip, Duration{});
}

// H11: it says all that the torn one said.
TEST(FlowcellSender, ALaterTokenStandsForATornOne) {
  Sending s(1);
  s.send(3);
  ASSERT_TRUE(s.grant(0, 0));
  s.run();
  std::array<uint8_t, 2 * kTokenBytes> place{};
  encode_token({0, 1, {}}, 1, place);
  encode_token({1, 3, {}}, 1, MutableBytes(place).subspan(kTokenBytes));
  place[9] ^= 1;
  const SendRequest w{.data = place, .remote = s.near[0]->address().tokens, .rkey = s.near[0]->address().rkey};
  s.net.nic(1).post_send(s.far[0]->qp(), {&w, 1});
  s.net.nic(0).post_receive(s.near[0]->qp(), std::array<ReceiveRequest, 1>{});
  s.run();
  s.run();
  EXPECT_EQ(s.sender.confirmed_bytes(), 3 * kCell);
}

// H13: a cell never takes the number of the probe.
TEST(FlowcellSender, CellsGrowUntilTheirNumbersAreBelowTheProbes) {
  FlowcellOptions o = small_cells(1);
  o.shape.layout = {2, 2, 28};
  Sending s(1, o);
  s.send(4);
  ASSERT_TRUE(s.grant(0, 0));
  s.cycle(0);
  EXPECT_EQ(s.sent(), 0u);
  ASSERT_EQ(s.arrived[0].size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(s.arrived[0][i].index, i);
}

// No more cells in flight than the peer has receives for their tails.
TEST(FlowcellSender, NoMoreCellsThanReceives) {
  Sending s(1);
  s.send(64);
  ASSERT_TRUE(s.grant(0, 0));
  for (int i = 0; i < 5; ++i) {
    s.run();
    s.complete();
  }
  EXPECT_LE(s.arrived[0].size(), s.options.receive_queue);
  EXPECT_EQ(s.net.nic(1).counters().no_receive, 0u);
}

// Cells double until there are numbers enough for them, but no request is that long.
TEST(FlowcellSender, AMessageOfMoreThanItsNumbersIsRefused) {
  FlowcellOptions o = small_cells(1);
  o.shape.layout = {2, 2, 28};
  Sending s(1, o);
  s.sender.send(Bytes(s.source.data(), uint64_t{3} << 31), 0);
  EXPECT_FALSE(s.sent());
  s.sender.send(Bytes(s.source.data(), (uint64_t{3} << 31) + 1), 0);
  const auto refused = s.sender.take_sent();
  ASSERT_TRUE(refused.has_value());
  EXPECT_NE(refused->error.find("choose a layout"), std::string::npos) << refused->error;
}

}  // namespace
}  // namespace matchrdma::host
