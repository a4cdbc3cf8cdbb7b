// Two devices between two hosts, with loss everywhere (SIMULATOR 6).
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/network.h"
#include "sim/schemes/pseudo_ack_border.h"
#include "sim/workload/closed_loop.h"

namespace matchrdma::sim {
namespace {

constexpr uint64_t kMessages = 64;
constexpr int64_t kMessage = 64 << 10;

struct Loss {
  double near_cable = 0, span = 0, far_cable = 0;
  int64_t copy_bytes = 64 << 20;
};

/// 64 messages each way over 10 km.
struct Pair {
  explicit Pair(const Loss& loss) : net(kRoceFrames, Tick{}) {
    const LinkSpec span{.delay = fibre(10), .loss = loss.span, .seed = 20};
    for (const uint64_t seed : {1, 2}) net.add_switch({.seed = seed});
    const uint32_t port = net.join_switches(0, 1, span, {});
    net.join_host(net.add_host({}), 0, {.loss = loss.near_cable, .seed = 30}, {});
    net.join_host(net.add_host({}), 1, {.loss = loss.far_cable, .seed = 40}, {});
    net.route();
    PseudoAckSettings settings = PseudoAckSettings::for_link(span);
    settings.copy_bytes = loss.copy_bytes;
    settings.timeout = SimSpan::micros(1000);
    for (uint32_t n = 0; n < 2; ++n) {
      borders[n] = std::make_unique<PseudoAckBorder>(net.context(), net.switch_node(n), settings);
      net.switch_node(n).set_border(*borders[n], port);
    }
    load.emplace(net, ClosedLoopSettings{.message_bytes = kMessage, .outstanding = 4, .messages = kMessages},
                 std::vector<std::pair<uint32_t, uint32_t>>{{0, 1}, {1, 0}});
    load->open([&](uint32_t a, uint32_t b) {
      return net.open(a, b, {.timeout = SimSpan::micros(2000)}, {.nack_gap = SimSpan::micros(50)});
    });
    load->start();
    const SimTime end = SimTime{} + SimSpan::micros(2'000'000);
    while (!load->done() && net.events().next_due() <= end && net.events().run_one()) {
    }
    EXPECT_TRUE(load->done());
    for (size_t f = 0; f < 2; ++f)
      EXPECT_EQ(load->delivered_bytes(f), static_cast<int64_t>(kMessages) * kMessage);
    net.events().run_until(net.now() + SimSpan::micros(20'000));
    for (const auto& b : borders) EXPECT_EQ(b->copies().used(), 0);
  }
  int64_t sender_repeats() const {
    return net.host(0).sender(0).sent_again() + net.host(1).sender(0).sent_again();
  }
  uint64_t device_repeats() const { return borders[0]->sent_again() + borders[1]->sent_again(); }

  Network net;
  std::unique_ptr<PseudoAckBorder> borders[2];
  std::optional<ClosedLoop> load;  ///< listens at the hosts
};

TEST(PseudoAckNetwork, NothingIsRepeatedWithoutLoss) {
  const Pair p({});
  EXPECT_EQ(p.sender_repeats(), 0);
  EXPECT_EQ(p.device_repeats(), 0u);
}

TEST(PseudoAckNetwork, DevicesRepairTheSpan) {
  const Pair p({.span = 0.01});
  EXPECT_GT(p.net.lost_frames(), 100u);
  EXPECT_EQ(p.sender_repeats(), 0);
  EXPECT_GT(p.device_repeats(), 0u);
}

TEST(PseudoAckNetwork, DevicesRepairTheFarSiteAndSendersTheirOwn) {
  // The cable of host 1 is far for one flow and near for the other.
  const Pair p({.far_cable = 0.01});
  EXPECT_GT(p.net.lost_frames(), 100u);
  EXPECT_EQ(p.net.host(0).sender(0).sent_again(), 0);
  EXPECT_GT(p.net.host(1).sender(0).sent_again(), 0);
  EXPECT_GT(p.borders[0]->sent_again(), 0u);
}

TEST(PseudoAckNetwork, SurvivesLossEverywhere) {
  for (const int64_t copies : {int64_t{64} << 20, int64_t{100'000}, int64_t{0}})
    Pair({.near_cable = 0.01, .span = 0.01, .far_cable = 0.01, .copy_bytes = copies});
}

}  // namespace
}  // namespace matchrdma::sim
