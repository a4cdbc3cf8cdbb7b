#include "sim/workload/fct.h"

#include <gtest/gtest.h>

#include "sim/workload/closed_loop.h"
#include "sim/workload/test_sites.h"

namespace matchrdma::sim {
namespace {

using test::Sites;

const FlowFilter kAll = [](const Flow&) { return true; };

/// Posts what a test says, when it says it.
class ByHand final : public Workload {
 public:
  using Workload::Workload;
  void open(const Open& open) override {
    for (const auto& [a, b] : pairs) add(open(a, b));
  }
  void start() override {}
  bool done() const override { return outstanding() == 0; }
  void send(uint32_t flow, int64_t bytes) { post(flow, bytes); }
  std::vector<std::pair<uint32_t, uint32_t>> pairs;

 private:
  void message_acknowledged(size_t, SimTime) override {}
  void message_delivered(size_t, SimTime) override {}
};

void finish(Sites& s, const Workload& load) {
  while (!load.done() && s.net.events().run_one()) {
  }
}

TEST(Fct, AnEmptyNetworkIsNearlyIdeal) {
  for (const int64_t bytes : {int64_t{8}, int64_t{4096}, int64_t{100'000}, int64_t{8} << 20}) {
    Sites s(100, 1);
    ClosedLoop load(s.net, {.message_bytes = bytes, .outstanding = 1, .messages = 3}, {{0, 1}});
    s.run(load);
    const Fct f = completion_times(load, {s.net, test::kLine, Sites::kMtu}, kAll);
    EXPECT_EQ(f.sender.messages, 3u);
    EXPECT_EQ(f.unfinished, 0u);
    // A RTT of 1 ms and 4 us of cables.
    EXPECT_NEAR(f.sender.mean_us, 1004 + static_cast<double>(bytes) * 8 / 98e3, 1.5);
    EXPECT_NEAR(f.receiver.mean_us, f.sender.mean_us - 502, 0.1);
    for (const Completions& c : {f.sender, f.receiver}) {
      EXPECT_GE(c.mean_slowdown, 1) << bytes;
      EXPECT_LT(c.mean_slowdown, 1.02) << bytes;
    }
  }
}

TEST(Fct, MeanMedianAndTailOfWhatTheFilterLetsThrough) {
  Sites s(1, 2);
  ByHand load(s.net);
  load.pairs = {{0, 2}, {0, 1}};
  s.start(load);
  for (int i = 0; i < 99; ++i) {  // one at a time, so each takes what it takes alone
    load.send(0, 1000);
    finish(s, load);
  }
  load.send(0, 10 << 20);
  finish(s, load);
  load.send(1, 1000);
  finish(s, load);
  const IdealPath ideal{s.net, test::kLine, Sites::kMtu};
  const Fct inter = completion_times(load, ideal, [&](const Flow& f) { return s.inter(f); });
  const Fct intra = completion_times(load, ideal, [&](const Flow& f) { return !s.inter(f); });
  EXPECT_EQ(inter.sender.messages, 100u);
  EXPECT_EQ(intra.sender.messages, 1u);
  EXPECT_NEAR(inter.sender.median_us, 14.4, 0.3);                 // 14 us of delay
  EXPECT_DOUBLE_EQ(inter.sender.p99_us, inter.sender.median_us);  // the 99th of a hundred
  const double large = 14 + (10 << 20) * 8 / 98e3;
  EXPECT_NEAR(inter.sender.mean_us, (99 * 14.4 + large) / 100, 0.3);
  EXPECT_NEAR(intra.sender.mean_us, 4.3, 0.3);
  EXPECT_NEAR(intra.receiver.mean_us, 2.3, 0.3);
}

TEST(Fct, WhatIsNotDoneOrWasPostedBeforeIsNotInIt) {
  Sites s(100, 1);
  ByHand load(s.net);
  load.pairs = {{0, 1}};
  s.start(load);
  load.send(0, 1000);
  finish(s, load);
  const SimTime warm = s.net.now();
  load.send(0, 1000);
  finish(s, load);
  load.send(0, 1000);
  s.net.events().run_until(s.net.now() + SimSpan::micros(700));  // delivered, not acknowledged
  const IdealPath ideal{s.net, test::kLine, Sites::kMtu};
  EXPECT_EQ(completion_times(load, ideal, kAll).sender.messages, 2u);
  const Fct f = completion_times(load, ideal, kAll, warm);
  EXPECT_EQ(f.sender.messages, 1u);
  EXPECT_EQ(f.receiver.messages, 1u);
  EXPECT_EQ(f.unfinished, 1u);
  EXPECT_EQ(completion_times(load, ideal, [](const Flow&) { return false; }).receiver.messages, 0u);
}

/// Bytes of the flows that anything was posted on.
std::vector<double> shares(const Workload& load, const FlowFilter& filter) {
  std::vector<bool> used(load.flows());
  for (const MessageRecord& m : load.messages()) used[m.flow] = true;
  std::vector<double> out;
  for (size_t f = 0; f < load.flows(); ++f)
    if (used[f] && filter(load.flow(f))) out.push_back(static_cast<double>(load.delivered_bytes(f)));
  return out;
}

TEST(Jain, OneWhereEqualAndLessWhereNot) {
  Sites s(1, 2);
  ByHand load(s.net);
  load.pairs = {{0, 2}, {1, 3}, {0, 1}, {1, 0}};
  s.start(load);
  EXPECT_EQ(jain_index(shares(load, kAll)), 1);
  load.send(0, 5000);
  load.send(1, 5000);
  load.send(2, 20'000);
  finish(s, load);
  EXPECT_DOUBLE_EQ(jain_index(shares(load, [&](const Flow& f) { return s.inter(f); })), 1);
  EXPECT_DOUBLE_EQ(jain_index(shares(load, kAll)),
                   30.0 * 30 / (3 * (25 + 25 + 400)));  // the idle flow is no share
}

}  // namespace
}  // namespace matchrdma::sim
