// One end, and what its peer says to it: the fence, the rebuilding, and all that is not so.
#include <gtest/gtest.h>

#include "host/flowcell/flowcell_end.h"
#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_nic.h"

namespace matchrdma::host {
namespace {

FlowcellOptions usual(uint32_t paths = 1) {
  FlowcellOptions o;
  o.shape = {.paths = paths, .path_mtu = 256, .slots = 4, .ring = 32, .layout = {}};
  o.least_cell = o.most_cell = 1024;
  o.send_queue = 64;
  o.receive_queue = 16;
  o.timeout_exponent = 10;
  return o;
}

template <class T>
std::vector<T> of_kind(const std::vector<ControlMessage>& all) {
  std::vector<T> some;
  for (const ControlMessage& m : all)
    if (const auto* t = std::get_if<T>(&m)) some.push_back(*t);
  return some;
}

/// Two ends; the test carries what they say.
struct Ends {
  explicit Ends(const FlowcellOptions& o = usual())
      : net(1, NicModel{}, NicModel{}, o.shape.paths),
        a(std::move(*FlowcellEnd::make(o, net.nic(0), net.now()))),
        b(std::move(*FlowcellEnd::make(o, net.nic(1), net.now()))) {}

  static void tell(FlowcellEnd& to, const std::vector<ControlMessage>& all, Instant now) {
    for (const ControlMessage& m : all) EXPECT_TRUE(to.on_control(m, now));
  }
  void run(Duration d) {
    for (const Instant end = net.now() + d; net.now() < end;) {
      net.run_until(earlier(net.now() + Duration::micros(10), end));
      a->poll(net.now());
      b->poll(net.now());
    }
  }
  void talk(Duration d) {
    for (const Instant end = net.now() + d; net.now() < end;) {
      run(Duration::micros(100));
      tell(*b, a->take_control(), net.now());
      tell(*a, b->take_control(), net.now());
    }
  }
  void kill_a() {
    flow = a->take_connected().at(0);
    net.nic(0).fail_qp(*net.nic(0).handle_of(flow.local.qpn));
    run(Duration::micros(20));
  }

  ModelNet net;
  std::unique_ptr<FlowcellEnd> a, b;
  FlowcellFlow flow;  ///< that was killed
};

TEST(FlowcellEnd, OptionsThatCannotWorkAreRefused) {
  const auto refused = [](auto change, const char* why) {
    FlowcellOptions o = usual();
    change(o);
    ModelNet net(1, NicModel{}, NicModel{}, 1);
    const auto r = FlowcellEnd::make(o, net.nic(0), {});
    ASSERT_FALSE(r.ok()) << why;
    EXPECT_NE(r.error().find(why), std::string::npos) << r.error();
  };
  refused([](FlowcellOptions& o) { o.shape.paths = 0; }, "1 path");
  refused([](FlowcellOptions& o) { o.shape.paths = 256; }, "255");
  refused([](FlowcellOptions& o) { o.shape.slots = 0; }, "slots");
  refused([](FlowcellOptions& o) { o.shape.slots = 65; }, "slots");
  refused([](FlowcellOptions& o) { o.shape.ring = 31; }, "twice the receive queue");
  refused([](FlowcellOptions& o) { o.receive_queue = 0; }, "receive queue");
  refused([](FlowcellOptions& o) { o.receive_queue = 1u << 31; }, "twice the receive queue");
  refused([](FlowcellOptions& o) { o.send_queue = 49; }, "50");
  refused([](FlowcellOptions& o) { o.shape.path_mtu = 0; }, "MTU");
  refused([](FlowcellOptions& o) { o.least_cell = 2048; }, "cells");
  refused([](FlowcellOptions& o) { o.most_cell = uint64_t{1} << 32; }, "cells");
  refused([](FlowcellOptions& o) { o.rate = {0}; }, "rate");
  refused([](FlowcellOptions& o) { o.shape.layout = {6, 0, 26}; }, "layout");
  refused([](FlowcellOptions& o) { o.shape.layout = {32, 20, 6}; }, "layout");
}

// The least send queue that is taken is enough, whatever lies in it without a completion.
TEST(FlowcellEnd, TheLeastSendQueueIsEnoughForBothDirections) {
  FlowcellOptions o = usual();
  o.send_queue = 50;
  Ends e(o);
  std::vector<uint8_t> from(20'000, 1), to(20'000);
  e.talk(Duration::millis(1));
  for (int round = 0; round < 40; ++round)
    for (FlowcellEnd* sends : {e.a.get(), e.b.get()}) {
      FlowcellEnd* const receives = sends == e.a.get() ? e.b.get() : e.a.get();
      sends->sender().send(Bytes(from).first(1024 * (1 + round % 18)), 0);
      ASSERT_TRUE(receives->receive_post(to).value());
      e.talk(Duration::millis(3));
      ASSERT_TRUE(receives->take_received()) << "round " << round;
      ASSERT_TRUE(sends->sender().take_sent()) << "round " << round;
    }
}

// Rule 2, C3: nothing is built before the peer has fenced; then with other numbers.
TEST(FlowcellEnd, AFailedPathIsFencedThenBuiltAnew) {
  Ends e;
  e.talk(Duration::millis(1));
  e.kill_a();
  const auto said = e.a->take_control();
  EXPECT_EQ(of_kind<Fence>(said), (std::vector<Fence>{{0, 1}}));
  EXPECT_TRUE(of_kind<CellPathOpen>(said).empty());
  e.run(Duration::seconds(3));
  EXPECT_TRUE(e.a->take_control().empty()) << "the peer has not answered";
  EXPECT_TRUE(e.net.nic(0).handle_of(e.flow.local.qpn)) << "the old queue pair stays until then";

  Ends::tell(*e.b, said, e.net.now());
  e.run(Duration::micros(20));
  const auto answer = e.b->take_control();
  EXPECT_EQ(of_kind<Fence>(answer), (std::vector<Fence>{{0, 1}})) << "its own direction";
  ASSERT_EQ(of_kind<Fenced>(answer).size(), 1u);
  EXPECT_TRUE(of_kind<CellPathOpen>(answer).empty()) << "its own fence is not answered";
  EXPECT_TRUE(e.net.nic(1).handle_of(e.flow.remote.qpn));

  Ends::tell(*e.a, answer, e.net.now());
  e.run(Duration::millis(5));
  EXPECT_FALSE(e.net.nic(0).handle_of(e.flow.local.qpn));
  const auto fenced = e.a->take_fenced();
  ASSERT_EQ(fenced.size(), 1u);
  EXPECT_EQ(fenced[0].local, e.flow.local);
  EXPECT_EQ(fenced[0].remote, e.flow.remote);
  const auto rest = e.a->take_control();
  ASSERT_EQ(of_kind<Fenced>(rest).size(), 1u);
  const auto open = of_kind<CellPathOpen>(rest);
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0].epoch, 2u);
  EXPECT_NE(open[0].address.qpn, e.flow.local.qpn);
  EXPECT_NE(open[0].address.psn, e.flow.local.psn);

  Ends::tell(*e.b, rest, e.net.now());
  e.talk(Duration::millis(5));
  EXPECT_EQ(e.a->take_connected().at(0).epoch, 2u);
  EXPECT_EQ(e.a->sender().view(0).state, FlowcellSender::PathState::kGood);
  EXPECT_EQ(e.b->sender().view(0).state, FlowcellSender::PathState::kGood);
  EXPECT_EQ(e.a->error() + e.b->error(), "");
}

TEST(FlowcellEnd, FencesOfOtherEpochsAndPathsSayNothing) {
  Ends e;
  e.talk(Duration::millis(1));
  for (const Fence& f : {Fence{1, 1}, Fence{UINT32_MAX, 1}, Fence{0, 0}, Fence{0, 2}})
    EXPECT_TRUE(e.a->on_control(f, e.net.now()));
  for (const Fenced& f : {Fenced{1, 1, 0, {}}, Fenced{0, 2, 0, {}}})
    EXPECT_TRUE(e.a->on_control(f, e.net.now()));
  for (const CellPathReady& r : {CellPathReady{1, 1}, CellPathReady{0, 2}})
    EXPECT_TRUE(e.a->on_control(r, e.net.now()));
  EXPECT_FALSE(e.a->on_control(Ping{1}, e.net.now())) << "somebody else's";
  e.run(Duration::millis(1));
  EXPECT_TRUE(e.a->take_control().empty());
  EXPECT_EQ(e.a->sender().view(0).state, FlowcellSender::PathState::kGood);
  EXPECT_EQ(e.a->error(), "");
}

TEST(FlowcellEnd, AFenceThatTellsWhatIsNotSoEndsTheConnection) {
  Ends e;
  e.talk(Duration::millis(1));
  EXPECT_TRUE(e.a->on_control(Fenced{0, 1, 7, {}}, e.net.now()));
  EXPECT_TRUE(e.a->on_control(Fence{0, 1}, e.net.now()));
  e.run(Duration::micros(100));
  EXPECT_NE(e.a->error().find("7 cells came by path 0"), std::string::npos) << e.a->error();
}

TEST(FlowcellEnd, GrantsThatAreNotSoEndTheConnection) {
  for (const uint32_t slot : {4u, UINT32_MAX, 0u}) {
    Ends e;
    EXPECT_TRUE(e.a->on_control(CellGrant{0, 0, 1, 0, 10}, {}));
    EXPECT_EQ(e.a->error(), "");
    EXPECT_TRUE(e.a->on_control(CellGrant{1, slot, 1, 0, 10}, {}));
    EXPECT_NE(e.a->error().find("grants slot " + std::to_string(slot)), std::string::npos) << e.a->error();
  }
}

/// When, after the fence of epochs 1, 2, ..., the next one was opened.
std::vector<Duration> pauses(Ends& e, FlowcellEnd& end, size_t n) {
  std::vector<Duration> all;
  for (uint32_t epoch = 1; epoch <= n; ++epoch) {
    end.take_control();
    const Instant start = e.net.now();
    EXPECT_TRUE(end.on_control(Fence{0, epoch}, start));
    EXPECT_TRUE(end.on_control(Fenced{0, epoch, 0, {}}, start));
    while (of_kind<CellPathOpen>(end.take_control()).empty() && e.net.now() < start + Duration::seconds(5)) {
      e.net.run_until(e.net.now() + Duration::micros(100));
      end.poll(e.net.now());
    }
    all.push_back(e.net.now() - start);
  }
  return all;
}

// A peer that fences whatever is built costs a queue pair a second.
TEST(FlowcellEnd, APathThatFailsAgainAtOnceWaitsLongerEachTime) {
  for (const Duration age : {Duration{}, Duration::seconds(10)}) {
    Ends e;
    e.talk(Duration::millis(1));
    e.run(age);
    const auto all = pauses(e, *e.a, 14);
    EXPECT_LT(all.front(), Duration::millis(2));
    for (size_t i = 1; i < 10; ++i) EXPECT_GT(all[i].ns, all[i - 1].ns * 3 / 2) << i << " of age " << age.ns;
    EXPECT_GE(all.back(), Duration::seconds(1));
    EXPECT_LT(all.back(), Duration::millis(1100));
  }
}

// A link that stays dead: each queue pair lives until its probe is given up.
TEST(FlowcellEnd, APathThatNeverShowsItselfWaitsLongerEachTime) {
  FlowcellOptions o = usual();
  o.timeout_exponent = 18;  // the NIC's own patience is longer
  Ends e(o);
  e.talk(Duration::millis(1));
  PathModel dead;
  dead.loss = 1;
  e.net.set_path(0, dead);
  e.net.set_path(1, dead);
  e.kill_a();
  std::vector<Instant> opened;
  while (opened.size() < 13 && e.net.now() < Instant{} + Duration::seconds(90)) {
    e.net.run_until(e.net.now() + Duration::millis(1));
    for (FlowcellEnd* end : {e.a.get(), e.b.get()}) end->poll(e.net.now());
    const auto a = e.a->take_control();
    if (!of_kind<CellPathOpen>(a).empty()) opened.push_back(e.net.now());
    Ends::tell(*e.b, a, e.net.now());
    Ends::tell(*e.a, e.b->take_control(), e.net.now());
  }
  ASSERT_EQ(opened.size(), 13u);
  EXPECT_GT((opened[12] - opened[11]) - (opened[1] - opened[0]), Duration::millis(800));
}

}  // namespace
}  // namespace matchrdma::host
