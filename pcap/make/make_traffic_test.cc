// What is sent, and what the network does to it, seen in the packets.
#include <algorithm>
#include <map>
#include <set>

#include "pcap/make/test_make.h"

namespace matchrdma {
namespace {

using test::count;
using test::Made;
using test::make;
using test::small;

TraceRecipe with(TracePattern pattern) {
  TraceRecipe r = small();
  r.pattern = pattern;
  r.message = pattern == TracePattern::kAtomic ? 0 : 4096;
  return r;
}

// 4 queue pairs, 2 bursts of 8 chunks of 4 packets, each with clear-to-send and notification.
TEST(MakePattern, TrainingIsARing) {
  const Made m = make(with(TracePattern::kTraining));
  EXPECT_EQ(count(m, op::kRcWriteFirst), 64u);
  EXPECT_EQ(count(m, op::kRcWriteMiddle), 128u);
  EXPECT_EQ(count(m, op::kRcWriteLast), 64u);
  EXPECT_EQ(count(m, op::kRcWriteOnlyImm), 64u);
  EXPECT_EQ(count(m, op::kRcWriteOnly), 64u) << "clear to send";
  EXPECT_EQ(m.truth.messages, 3u * 64u);
  std::map<int, uint64_t> bulk;
  for (const auto& p : m.packets) bulk[p.side()] += p.frame().opcode() == op::kRcWriteFirst ? 1 : 0;
  EXPECT_EQ(bulk[0], 32u);
  EXPECT_EQ(bulk[1], 32u);
}

// NCCL's receiver speaks first: no data before it was allowed.
TEST(MakePattern, TrainingDataFollowsItsClearToSend) {
  const Made m = make(with(TracePattern::kTraining));
  std::map<uint16_t, int64_t> allowed;  // by port: one for each queue pair
  for (const auto& p : m.packets) {
    const Frame f = p.frame();
    if (f.opcode() == op::kRcWriteOnly) ++allowed[f.udp_source_port()];
    if (f.opcode() == op::kRcWriteFirst) {
      ASSERT_GE(--allowed[f.udp_source_port()], 0);
    }
  }
}

TEST(MakePattern, Others) {
  EXPECT_EQ(count(make(with(TracePattern::kWrite)), op::kRcWriteLast), 64u);
  EXPECT_EQ(count(make(with(TracePattern::kSend)), op::kRcSendLast), 64u);
  const Made read = make(with(TracePattern::kRead));
  EXPECT_EQ(count(read, op::kRcReadReq), 64u);
  EXPECT_EQ(count(read, op::kRcReadRespLast), 64u);
  const Made atomic = make(with(TracePattern::kAtomic));
  EXPECT_EQ(count(atomic, op::kRcFetchAdd) + count(atomic, op::kRcCmpSwap), 64u);
  EXPECT_EQ(count(atomic, op::kRcAtomicAck), 64u);
  const TraceInfo mixed = make(with(TracePattern::kMixed)).info();
  const auto some = [&](std::initializer_list<uint8_t> opcodes) {
    uint64_t n = 0;
    for (const uint8_t o : opcodes) n += mixed.opcodes[o];
    return n > 0;
  };
  EXPECT_TRUE(some({op::kRcSendOnly, op::kRcSendLast, op::kRcSendOnlyImm, op::kRcSendLastImm}));
  EXPECT_TRUE(some({op::kRcSendOnlyInv, op::kRcSendLastInv}));
  EXPECT_TRUE(some({op::kRcWriteOnly, op::kRcWriteLast}));
  EXPECT_TRUE(some({op::kRcReadReq}));
  EXPECT_TRUE(some({op::kRcFetchAdd, op::kRcCmpSwap}));
}

TEST(MakeOption, QpsAndHosts) {
  TraceRecipe r = small();
  r.qps = 3;
  r.hosts = 5;
  const Made m = make(r);
  EXPECT_EQ(m.truth.pairs.size(), 15u);
  EXPECT_EQ(m.info().flows.size(), 30u);
  std::set<IpAddress> addresses;
  for (const auto& [key, flow] : m.info().flows) addresses.insert(key.source);
  EXPECT_EQ(addresses.size(), 10u);
}

TEST(MakeOption, MessageAndMtu) {
  TraceRecipe r = with(TracePattern::kWrite);
  r.message = 5000;
  r.path_mtu = 2048;
  const Made m = make(r);
  EXPECT_EQ(count(m, op::kRcWriteFirst), 64u);
  EXPECT_EQ(count(m, op::kRcWriteMiddle), 64u);
  for (const auto& p : m.packets) {
    const Frame f = p.frame();
    if (f.opcode() == op::kRcWriteFirst) {
      EXPECT_EQ(f.payload_length(), 2048u);
      EXPECT_EQ(f.reth_length(), 5000u);
    }
  }
  for (const TracePair& p : m.truth.pairs) EXPECT_EQ(p.path_mtu, 2048u);
}

TEST(MakeOption, IterationsComputeAndDuration) {
  TraceRecipe r = small();
  r.iterations = 3;
  r.compute = Duration::millis(2);
  const Made three = make(r);
  EXPECT_EQ(count(three, op::kRcWriteFirst), 96u);
  EXPECT_GT(three.info().duration(), Duration::micros(3900));
  EXPECT_LT(three.info().duration(), Duration::micros(4500));
  r.iterations = 0;
  r.duration = Duration::micros(9500);
  const Made timed = make(r);
  EXPECT_EQ(count(timed, op::kRcWriteFirst), 4u * 32u);
  EXPECT_LT(timed.truth.last - timed.truth.begin, Duration::micros(9600));
}

// A host cannot send faster than its NIC, and what it sends right behind each other keeps that distance.
TEST(MakeOption, RateSpacesThePackets) {
  TraceRecipe r = with(TracePattern::kWrite);
  r.rate = Rate{10'000'000'000};
  const Made m = make(r);
  Instant free[2]{};
  int64_t back_to_back = 0;
  for (const auto& p : m.packets) {
    Instant& f = free[p.side()];
    ASSERT_GE(p.time, f);
    if (p.time == f) ++back_to_back;
    f = p.time + Duration{static_cast<int64_t>((p.bytes.size() * 8 + 9) / 10)};
  }
  EXPECT_GT(back_to_back, 100);
}

/// Time from a message's last packet to its ACK at the tap.
Duration answer_time(const Made& m) {
  for (size_t i = 0; i < m.packets.size(); ++i)
    if (m.packets[i].frame().opcode() == op::kRcWriteLast)
      for (size_t k = i + 1; k < m.packets.size(); ++k) {
        const Frame f = m.packets[k].frame();
        if (f.opcode() == op::kRcAck && f.psn() == m.packets[i].frame().psn())
          return m.packets[k].time - m.packets[i].time;
      }
  return {};
}

TEST(MakeOption, DistanceLatencyAndTap) {
  TraceRecipe r = with(TracePattern::kWrite);
  r.qps = 1;
  r.distance_km = 200;
  r.lan_latency = Duration::micros(10);
  const auto near = [](Duration got, Duration want) { return got >= want && got < want + Duration::micros(1); };
  EXPECT_TRUE(near(answer_time(make(r)), Duration::micros(2020)));
  r.tap = TraceTap::kB;
  EXPECT_TRUE(near(answer_time(make(r)), Duration::micros(20)));
  std::map<int, std::set<uint8_t>> hops;
  for (const auto& p : make(r).packets) hops[p.side()].insert(p.frame().hop_limit());
  EXPECT_EQ(hops[0], std::set<uint8_t>{61}) << "routers of the span";
  EXPECT_EQ(hops[1], std::set<uint8_t>{64});
}

TEST(MakeOption, LossEndsInGoBackNAndEverythingArrives) {
  for (const TracePattern pattern : {TracePattern::kTraining, TracePattern::kWrite, TracePattern::kMixed}) {
    TraceRecipe r = with(pattern);
    const uint64_t messages = make(r).truth.messages;
    r.loss = 0.03;
    const Made after = make(r);  // make_trace itself checks memory and completions
    EXPECT_GT(after.truth.lost, 0u);
    EXPECT_GT(after.truth.retransmitted, 0u);
    EXPECT_EQ(after.truth.messages, messages);
    if (pattern == TracePattern::kWrite) {
      EXPECT_GT(after.info().aeth_syndromes[kNakSequence], 0u);
    }
  }
}

/// Pairs of request packets with the same flow and PSN.
uint64_t copies(const Made& m) {
  std::map<std::tuple<IpAddress, uint32_t, uint32_t>, uint64_t> seen;
  uint64_t n = 0;
  for (const auto& p : m.packets)
    if (p.frame().info().request)
      n += seen[{p.frame().source(), p.frame().dest_qp().v, p.frame().psn().v}]++ > 0 ? 1 : 0;
  return n;
}

TEST(MakeOption, LossBeforeTheTapIsNotCaptured) {
  TraceRecipe r = with(TracePattern::kWrite);
  r.loss = 0.03;
  const Made after = make(r);
  r.loss_at = TraceLossAt::kBeforeTap;
  const Made before = make(r);
  EXPECT_EQ(copies(after), after.truth.retransmitted);
  EXPECT_LT(copies(before), before.truth.retransmitted);
}

TEST(MakeOption, EcnMarksAreAnsweredByCnps) {
  for (const TracePattern pattern : {TracePattern::kWrite, TracePattern::kRead}) {
    TraceRecipe r = with(pattern);
    r.ecn = 0.1;
    const Made m = make(r);
    const TraceInfo info = m.info();
    EXPECT_GT(m.truth.marked, 0u);
    EXPECT_EQ(info.ecn[3], m.truth.marked);
    EXPECT_GT(info.opcodes[op::kCnp], 0u);
    EXPECT_EQ(info.opcodes[op::kCnp], m.truth.cnps);
    for (const auto& p : m.packets)
      if (p.frame().opcode() == op::kCnp) {
        EXPECT_EQ(p.frame().traffic_class() >> 2, 48);
        EXPECT_TRUE(p.frame().becn());
      }
  }
}

}  // namespace
}  // namespace matchrdma
