// Made traces go through the replayer: what model NICs said to each other must pass two proxies unharmed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "pcap/make/capture_sink.h"
#include "tests/replay_run.h"

namespace matchrdma {
namespace {

namespace fs = std::filesystem;

struct Recipe {
  const char* name;
  void (*change)(TraceRecipe&);
};
std::ostream& operator<<(std::ostream& out, const Recipe& r) { return out << r.name; }

TraceRecipe recipe(const Recipe& named) {
  TraceRecipe r;
  r.qps = 4;
  r.message = 16 * 1024;
  r.iterations = 3;
  r.compute = Duration::millis(1);
  r.duration = {};
  named.change(r);
  return r;
}

/// A trace on disk, gone with the object.
class MadeFile {
 public:
  explicit MadeFile(const TraceRecipe& r)
      : path_((fs::path(testing::TempDir()) / ("made_" + std::to_string(getpid()) + ".pcap")).string()) {
    auto writer = CaptureWriter::open(path_);
    CaptureSink sink(*writer);
    auto truth = make_trace(r, sink);
    EXPECT_TRUE(truth.ok()) << truth.error();
    EXPECT_TRUE(writer->close().ok());
    if (truth) truth_ = std::move(*truth);
  }
  ~MadeFile() { fs::remove(path_); }
  MadeFile(const MadeFile&) = delete;

  ReplayOptions options() const {
    ReplayOptions o;
    o.register_flows = true;
    o.trace = path_;
    o.site_a = truth_.pairs.at(0).a.ip.is_v4() ? *Cidr::parse("10.1.0.0/16") : *Cidr::parse("fd00:0:0:1::/64");
    return o;
  }
  const TraceTruth& truth() const { return truth_; }

 private:
  std::string path_;
  TraceTruth truth_;
};

void expect_sound(const ReplayResult& r) {
  const DeliveryReport& d = r.delivery;
  EXPECT_GT(d.requests_in, 0u);
  EXPECT_EQ(d.lost, 0u);
  EXPECT_EQ(d.requests_in, d.requests_out);
  EXPECT_TRUE(d.in_order);
  EXPECT_TRUE(d.bytes_identical);
  EXPECT_TRUE(d.responses_identical);
  EXPECT_EQ(d.bad_icrc_out, 0u);
  EXPECT_EQ(d.unknown_out, 0u);
  EXPECT_EQ(d.aeth_above_fence, 0u);
  EXPECT_EQ(d.aeth_not_owned, 0u);
  EXPECT_EQ(r.unanswered_requests, 0u);
}

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

/// QPNs at A and B of the connections that the replayer found, and those that there are.
void expect_pairs(const ReplayResult& r, const TraceTruth& truth) {
  Pairs found, want;
  for (const TraceStream& s : r.streams) {
    if (s.transport != Transport::kRc) continue;
    ASSERT_GE(s.partner, 0) << s.evidence;
    const TraceStream& partner = r.streams[static_cast<size_t>(s.partner)];
    for (const TracePair& p : truth.pairs)
      if (p.a.ip == s.key.src && p.b.ip == s.key.dst && p.b.qpn == s.key.dst_qpn)
        found.push_back({partner.key.dst_qpn.v, s.key.dst_qpn.v});
  }
  for (const TracePair& p : truth.pairs) want.push_back({p.a.qpn.v, p.b.qpn.v});
  std::sort(found.begin(), found.end());
  std::sort(want.begin(), want.end());
  EXPECT_EQ(found, want);
}

/// The slots of each proxy are in order, and the sums are theirs.
void expect_slots(const ReplayResult& r) {
  uint64_t made = 0;
  for (const BudgetSummary& b : r.budgets) {
    EXPECT_LE(b.lowest, b.highest);
    EXPECT_GT(b.lowest, Rate{});
    made += b.made;
  }
  EXPECT_GT(r.slots.size(), 0u);
  EXPECT_EQ(r.slots.size(), made);
  std::array<int64_t, 2> newest{-1, -1};
  for (const ReplaySlot& s : r.slots) {
    int64_t& before = newest.at(static_cast<size_t>(s.site));
    EXPECT_GE(s.slot.why.slot, before);
    EXPECT_GE(s.slot.why.horizon, 1);
    before = s.slot.why.slot;
  }
}

class EveryRecipe : public testing::TestWithParam<Recipe> {};

TEST_P(EveryRecipe, PassesTransparentProxies) {
  const MadeFile file(recipe(GetParam()));
  ReplayOptions o = file.options();
  o.transparent = true;
  const ReplayResult r = run(o);
  expect_sound(r);
  EXPECT_EQ(r.packets_fed, file.truth().packets);
}

TEST_P(EveryRecipe, PassesProxiesThatAcknowledge) {
  const MadeFile file(recipe(GetParam()));
  const ReplayResult r = run(file.options());
  expect_sound(r);
  EXPECT_EQ(r.released_without_cause, 0u);
  expect_pairs(r, file.truth());
  EXPECT_TRUE(r.with_proxy.samples == 0 || r.with_proxy.p50 < 100'000) << r.with_proxy.p50;
}

TEST_P(EveryRecipe, PassesALossySpan) {
  const MadeFile file(recipe(GetParam()));
  ReplayOptions o = file.options();
  o.loss = o.reorder = o.duplicate = 0.01;
  expect_sound(run(o));
}

const Recipe kRecipes[] = {
    {"training", [](TraceRecipe&) {}},
    {"write", [](TraceRecipe& r) { r.pattern = TracePattern::kWrite; }},
    {"send", [](TraceRecipe& r) { r.pattern = TracePattern::kSend; }},
    {"read", [](TraceRecipe& r) { r.pattern = TracePattern::kRead; }},
    {"atomic", [](TraceRecipe& r) { r.pattern = TracePattern::kAtomic, r.message = 0; }},
    {"mixed", [](TraceRecipe& r) { r.pattern = TracePattern::kMixed; }},
    {"hosts", [](TraceRecipe& r) { r.hosts = 3; }},
    {"mtu_256", [](TraceRecipe& r) { r.path_mtu = 256; }},
    {"mtu_4096", [](TraceRecipe& r) { r.path_mtu = 4096; }},
    {"slow_nic", [](TraceRecipe& r) { r.rate = Rate{10'000'000'000}; }},
    {"far", [](TraceRecipe& r) { r.distance_km = 1000; }},
    {"far_tap_b", [](TraceRecipe& r) { r.distance_km = 1000, r.tap = TraceTap::kB; }},
    {"loss", [](TraceRecipe& r) { r.loss = 0.002; }},
    {"ecn", [](TraceRecipe& r) { r.ecn = 0.02; }},
    {"cm", [](TraceRecipe& r) { r.setup = TraceSetup::kCm, r.psn = TracePsn::kRandom; }},
    {"random_numbers", [](TraceRecipe& r) { r.psn = TracePsn::kRandom, r.qpn = TraceQpn::kRandom; }},
    {"fixed_port", [](TraceRecipe& r) { r.source_port = TracePort::kFixed, r.psn = TracePsn::kRandom; }},
    {"own_qpn_port", [](TraceRecipe& r) { r.source_port = TracePort::kOwnQpn; }},
    {"per_qp_port", [](TraceRecipe& r) { r.source_port = TracePort::kPerQp, r.psn = TracePsn::kRandom; }},
    {"join_late", [](TraceRecipe& r) { r.join_after = Duration::micros(1100); }},
    {"ipv6_vlans",
     [](TraceRecipe& r) {
       r.ipv6 = true, r.vlans = {100, 200};
     }},
};
INSTANTIATE_TEST_SUITE_P(Made, EveryRecipe, testing::ValuesIn(kRecipes),
                         [](const auto& test) { return std::string(test.param.name); });

// Budgets that follow what the receivers take hold packets back, and lose or disorder none of them.
TEST_P(EveryRecipe, PassesProxiesWithAnEstimator) {
  const MadeFile file(recipe(GetParam()));
  for (const Scheme scheme : {Scheme::kEarned, Scheme::kPaper}) {
    ReplayOptions o = file.options();
    o.estimator.emplace();
    o.estimator->scheme = scheme;
    o.keep_slots = true;
    const ReplayResult r = run(o);
    expect_sound(r);
    expect_slots(r);
    o.keep_slots = false;
    EXPECT_TRUE(run(o).slots.empty());
  }
}

// QPNs that live again with other partners: the recording goes on as its hosts did, life by life. Nobody is
// told of them, and the proxies' own learners see one life end and the next begin.
TEST(MadeTrace, QueuePairsUsedAnewPass) {
  for (const TraceSetup setup : {TraceSetup::kOutOfBand, TraceSetup::kCm})
    for (const TracePsn psn : {TracePsn::kZero, TracePsn::kRandom})
      for (const TracePort port : {TracePort::kHash, TracePort::kOwnQpn})
        for (const bool registering : {false, true}) {
          TraceRecipe r = recipe(kRecipes[0]);
          r.reuse = true;
          r.iterations = 4;
          r.compute = Duration::millis(20);
          r.setup = setup;
          r.psn = psn;
          r.source_port = port;
          SCOPED_TRACE(testing::Message()
                       << "CM " << (setup == TraceSetup::kCm) << " PSN zero " << (psn == TracePsn::kZero)
                       << " hash " << (port == TracePort::kHash) << " register " << registering);
          const MadeFile file(r);
          ReplayOptions o = file.options();
          o.register_flows = registering;
          const ReplayResult result = run(o);
          expect_sound(result);
          EXPECT_EQ(result.released_without_cause, 0u);
          for (size_t i = 0; i < result.streams.size(); ++i) EXPECT_NE(result.learned[i].by, "registration");
        }
}

// What the capture does not show cannot be answered for, but what it shows must still pass.
TEST(MadeTrace, HalfHiddenFlowsPass) {
  for (const TraceHidden direction : {TraceHidden::kBoth, TraceHidden::kFromA, TraceHidden::kFromB}) {
    TraceRecipe r = recipe(kRecipes[0]);
    r.hide = 0.5;
    r.hide_direction = direction;
    const MadeFile file(r);
    const ReplayResult result = run(file.options());
    EXPECT_EQ(result.delivery.lost, 0u);
    EXPECT_TRUE(result.delivery.bytes_identical);
    EXPECT_EQ(result.delivery.bad_icrc_out, 0u);
  }
}

// Packets that were lost on their way to the tap come later, as retransmissions.
TEST(MadeTrace, GapsOfTheCapturePass) {
  TraceRecipe r = recipe(kRecipes[0]);
  r.loss = 0.002;
  r.loss_at = TraceLossAt::kBeforeTap;
  const MadeFile file(r);
  EXPECT_GT(file.truth().retransmitted, 0u);
  expect_sound(run(file.options()));
}

}  // namespace
}  // namespace matchrdma
