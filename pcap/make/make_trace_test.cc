// What every made trace must be, whatever its recipe.
#include <algorithm>
#include <map>

#include "dataplane/base/prng.h"
#include "pcap/make/test_make.h"

namespace matchrdma {
namespace {

using test::Made;
using test::make;
using test::MemorySink;
using test::small;

/// A recipe with everything drawn by the seed.
TraceRecipe any_recipe(uint64_t seed) {
  Prng prng(seed);
  TraceRecipe r = small(seed);
  r.pattern = static_cast<TracePattern>(prng.below(6));
  r.qps = 1 + static_cast<uint32_t>(prng.below(5));
  r.hosts = 1 + static_cast<uint32_t>(prng.below(2));
  r.message = r.pattern == TracePattern::kAtomic ? 0 : 1 + static_cast<uint32_t>(prng.below(6000));
  r.path_mtu = 256u << prng.below(5);
  r.distance_km = prng.chance(0.5) ? 0 : static_cast<double>(prng.below(1000));
  r.loss = prng.chance(0.5) ? 0 : 0.05 * prng.unit();
  r.loss_at = static_cast<TraceLossAt>(prng.below(2));
  r.ecn = prng.chance(0.5) ? 0 : 0.2 * prng.unit();
  r.setup = static_cast<TraceSetup>(prng.below(2));
  r.psn = static_cast<TracePsn>(prng.below(2));
  r.qpn = static_cast<TraceQpn>(prng.below(2));
  r.source_port = static_cast<TracePort>(prng.below(4));
  r.join_after = prng.chance(0.7) ? Duration{} : Duration::micros(300);
  r.hide = prng.chance(0.7) ? 0 : prng.unit();
  r.hide_direction = static_cast<TraceHidden>(prng.below(3));
  r.reuse = prng.chance(0.3);
  r.ipv6 = prng.chance(0.3);
  if (prng.chance(0.3)) r.vlans.push_back(100);
  if (prng.chance(0.3)) r.vlans.push_back(200);
  r.tap = static_cast<TraceTap>(prng.below(2));
  return r;
}

/// Counts per end as the packets show them. A QPN means the youngest connection that was born or begun by then.
void expect_truth(const Made& m) {
  using Key = std::tuple<IpAddress, IpAddress, Qpn>;
  std::map<Key, std::vector<size_t>> lives;  // of the receiving end, oldest first
  for (size_t i = 0; i < m.truth.pairs.size(); ++i) {
    const TracePair& p = m.truth.pairs[i];
    lives[{p.a.ip, p.b.ip, p.b.qpn}].push_back(i);
    lives[{p.b.ip, p.a.ip, p.a.qpn}].push_back(i);
  }
  std::map<std::pair<size_t, int>, TraceEnd> seen;
  for (const MemorySink::Packet& p : m.packets) {
    const Frame f = p.frame();
    if (f.info().transport == Transport::kUd) continue;
    const auto& all = lives.at({f.source(), f.destination(), f.dest_qp()});
    size_t pair = all.front();
    for (const size_t i : all)
      if (m.truth.pairs[i].born <= p.time) pair = i;
    TraceEnd& e = seen[{pair, p.side()}];
    ++e.packets;
    e.first_seen = earlier(e.first_seen, p.time);
    if (f.opcode() != op::kCnp) e.udp_port = f.udp_source_port();
    if (!f.info().request) continue;
    ++e.requests;
    if (!e.first_request) e.first_request = f.psn();
  }
  for (size_t i = 0; i < m.truth.pairs.size(); ++i)
    for (const int side : {0, 1}) {
      TracePair p = m.truth.pairs[i];
      const TraceEnd& want = p.end(side);
      const TraceEnd& got = seen[{i, side}];
      EXPECT_EQ(got.packets, want.packets);
      EXPECT_EQ(got.requests, want.requests);
      EXPECT_EQ(got.first_request, want.first_request);
      EXPECT_EQ(got.first_seen, want.first_seen);
      if (got.packets > 0) {
        EXPECT_TRUE(want.visible);
        EXPECT_EQ(got.udp_port, want.udp_port);
        EXPECT_GE(got.first_seen, p.born);
        EXPECT_LE(got.first_seen, p.ended);
      }
    }
}

void expect_sound(const Made& m) {
  const TraceInfo info = m.info();
  EXPECT_EQ(info.packets, m.truth.packets);
  EXPECT_EQ(info.roce, info.packets);
  EXPECT_EQ(info.icrc_bad + info.malformed + info.truncated + info.not_roce, 0u);
  EXPECT_EQ(info.bytes, m.truth.bytes);
  for (size_t i = 1; i < m.packets.size(); ++i) EXPECT_LE(m.packets[i - 1].time, m.packets[i].time);
  if (m.packets.empty()) return;
  EXPECT_EQ(m.packets.front().time, m.truth.first);
  EXPECT_EQ(m.packets.back().time, m.truth.last);
}

TEST(MakeTrace, AnyRecipeIsSoundAndItsTruthIsWhatThePacketsShow) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Made m = make(any_recipe(seed));
    expect_sound(m);
    expect_truth(m);
    if (HasFailure()) return;
  }
}

TEST(MakeTrace, SameSeedSamePackets) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Made a = make(any_recipe(seed)), b = make(any_recipe(seed));
    ASSERT_EQ(a.packets.size(), b.packets.size()) << seed;
    for (size_t i = 0; i < a.packets.size(); ++i) {
      ASSERT_EQ(a.packets[i].time, b.packets[i].time) << seed;
      ASSERT_EQ(a.packets[i].bytes, b.packets[i].bytes) << seed;
    }
  }
}

TEST(MakeTrace, OtherSeedOtherPackets) {
  const Made a = make(small(1)), b = make(small(2));
  ASSERT_FALSE(a.packets.empty());
  ASSERT_FALSE(b.packets.empty());
  EXPECT_NE(a.packets.front().bytes, b.packets.front().bytes);
  const auto payload = [](const Made& m) {
    for (const auto& p : m.packets)
      if (p.frame().opcode() == op::kRcWriteFirst)
        return std::vector<uint8_t>(p.frame().payload().begin(), p.frame().payload().end());
    return std::vector<uint8_t>();
  };
  EXPECT_NE(payload(a), payload(b));
  EXPECT_NE(a.truth.last, b.truth.last);
}

// IPv4 identification counts per host, as RFC 6864 allows and the captures of real NICs show.
TEST(MakeTrace, HostsNumberTheirPackets) {
  const Made m = make(small());
  std::map<int, uint16_t> last;
  for (const auto& p : m.packets) {
    const uint16_t id = load_be16(p.bytes.data() + p.frame().l3_offset() + 4);
    if (const auto it = last.find(p.side()); it != last.end()) {
      ASSERT_EQ(id, static_cast<uint16_t>(it->second + 1));
    }
    last[p.side()] = id;
  }
  EXPECT_EQ(last.size(), 2u);
}

class FullDisk final : public PacketSink {
 public:
  Result<void> packet(Instant, Bytes) override {
    if (++calls == 10) return Error{"disk full"};
    return {};
  }
  int calls = 0;
};

TEST(MakeTrace, AFailingSinkEndsIt) {
  FullDisk sink;
  const auto r = make_trace(small(), sink);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error(), "disk full");
  EXPECT_EQ(sink.calls, 10);
}

TEST(MakeTrace, ABadRecipeIsRefused) {
  TraceRecipe r = small();
  r.path_mtu = 1000;
  MemorySink sink;
  EXPECT_FALSE(make_trace(r, sink).ok());
  EXPECT_TRUE(sink.packets.empty());
}

TEST(MakeTrace, ProgressIsTold) {
  TraceRecipe r = small();
  Duration newest;
  uint64_t calls = 0;
  r.progress = [&](Duration d) {
    EXPECT_GE(d, newest);
    newest = d;
    ++calls;
  };
  make(r);
  EXPECT_GT(calls, 1u);
  EXPECT_GT(newest, Duration{});
}

}  // namespace
}  // namespace matchrdma
