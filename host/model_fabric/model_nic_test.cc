// The model's own promises: schedules of the library prove nothing without them.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_nic.h"

namespace matchrdma::host {
namespace {

constexpr uint32_t kMtu = 256;

/// Two NICs with one RC queue pair each on a path.
struct Pair {
  explicit Pair(uint64_t seed, const NicModel& nic = {}, uint32_t paths = 1) : net(seed, nic, nic, paths) {}

  void connect(uint32_t path) {
    for (uint32_t e = 0; e < 2; ++e) qp[e] = *net.nic(e).create_qp({.transport = Transport::kRc});
    for (uint32_t e = 0; e < 2; ++e) {
      const ConnectOptions o{.path_mtu = kMtu, .timeout_exponent = 10, .path = path};
      ASSERT_TRUE(net.nic(e).connect(qp[e], net.nic(1 - e).address(qp[1 - e]), o).ok());
    }
  }
  std::vector<Completion> poll(uint32_t end) {
    std::vector<Completion> all(64);
    all.resize(net.nic(end).poll(all));
    return all;
  }
  void run(Duration d) { net.run_until(net.now() + d); }

  ModelNet net;
  std::array<QpHandle, 2> qp;
};

TEST(ModelNic, EachPathHasItsOwnWire) {
  Pair p(1, {}, 2);
  std::vector<uint8_t> memory(1000), bytes(1000, 7);
  const Region r = *p.net.nic(1).add_region(memory, Access::kRemoteWrite);
  PathModel dead;
  dead.loss = 1;
  p.net.set_path(0, dead, 0);
  p.connect(1);
  const SendRequest w{.op = SendRequest::Op::kWrite, .signalled = true, .data = bytes, .rkey = r.rkey};
  p.net.nic(0).post_send(p.qp[0], {&w, 1});
  p.run(Duration::millis(1));
  EXPECT_EQ(memory, bytes);
  EXPECT_EQ(p.net.counters(0, 0).sent, 0u);
  p.connect(0);
  p.net.nic(0).post_send(p.qp[0], {&w, 1});
  p.run(Duration::seconds(1));
  const auto done = p.poll(0);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[1].status, Completion::Status::kRetryExceeded);
}

// C1, C2: a completion says that the proxy has it; it arrives later, though the sender is gone by then.
TEST(ModelNic, CustodyOutlivesItsSender) {
  for (const bool dropped : {false, true}) {
    Pair p(2);
    p.net.add_custody(0);
    std::vector<uint8_t> memory(5000), bytes(5000, 7);
    const Region r = *p.net.nic(1).add_region(memory, Access::kRemoteWrite);
    p.connect(0);
    PathModel broken;
    broken.loss = 1;
    p.net.set_path(0, broken);
    const SendRequest w{.op = SendRequest::Op::kWrite, .signalled = true, .data = bytes, .rkey = r.rkey};
    p.net.nic(0).post_send(p.qp[0], {&w, 1});
    p.run(Duration::millis(1));
    const auto done = p.poll(0);
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].status, Completion::Status::kOk);
    EXPECT_EQ(memory, std::vector<uint8_t>(5000));
    p.net.nic(0).fail_qp(p.qp[0]);
    if (dropped) p.net.drop_custody(0, p.net.nic(0).address(p.qp[0]).qpn);
    p.net.set_path(0, {});
    p.run(Duration::seconds(1));
    EXPECT_EQ(memory, dropped ? std::vector<uint8_t>(5000) : bytes);
  }
}

TEST(ModelNic, AtomicsTakeEffectOnceAndAnswer) {
  for (const bool custody : {false, true}) {
    int whole = 0;
    for (uint64_t seed = 1; seed <= 100; ++seed) {
      Pair p(seed);
      PathModel lossy;
      lossy.loss = lossy.duplicate = 0.2;
      lossy.reorder = 0.1;
      p.net.set_path(0, lossy);
      p.net.set_path(1, lossy);
      if (custody) p.net.add_custody(0);
      std::array<uint64_t, 2> counter{}, before{};
      const MutableBytes memory(reinterpret_cast<uint8_t*>(counter.data()), sizeof counter);
      const Region r = *p.net.nic(1).add_region(memory, Access::kRemoteAtomic);
      p.connect(0);
      const std::vector<uint8_t> bytes(3, 7);
      const auto atomic = [&](size_t i) {
        SendRequest a{.op = SendRequest::Op::kFetchAdd, .signalled = true, .rkey = r.rkey};
        a.result = MutableBytes(reinterpret_cast<uint8_t*>(&before[i]), sizeof before[i]);
        a.add_or_compare = 5;
        return a;
      };
      const std::array<SendRequest, 3> all{
          atomic(0), SendRequest{.op = SendRequest::Op::kWrite, .data = bytes, .remote = 8, .rkey = r.rkey},
          atomic(1)};
      EXPECT_EQ(p.net.nic(0).post_send(p.qp[0], all), 3u);
      p.run(Duration::seconds(2));
      const auto done = p.poll(0);
      ASSERT_EQ(done.size(), 2u) << "seed " << seed;
      if (done[0].status != Completion::Status::kOk || done[1].status != Completion::Status::kOk) continue;
      ++whole;
      EXPECT_EQ(counter[0], 10u) << "seed " << seed;
      EXPECT_EQ(before[0], 0u) << "seed " << seed;
      EXPECT_EQ(before[1], 5u) << "seed " << seed;
    }
    EXPECT_GT(whole, 60) << "custody " << custody;
  }
}

TEST(ModelNic, CompareAndSwapCompares) {
  Pair p(3);
  uint64_t word = 4, before = 0;
  const Region r =
      *p.net.nic(1).add_region({reinterpret_cast<uint8_t*>(&word), sizeof word}, Access::kRemoteAtomic);
  p.connect(0);
  SendRequest a{.op = SendRequest::Op::kCompareSwap, .signalled = true, .rkey = r.rkey};
  a.result = {reinterpret_cast<uint8_t*>(&before), sizeof before};
  a.add_or_compare = 3;
  a.swap = 9;
  p.net.nic(0).post_send(p.qp[0], {&a, 1});
  p.run(Duration::millis(1));
  EXPECT_EQ(word, 4u);
  a.add_or_compare = 4;
  p.net.nic(0).post_send(p.qp[0], {&a, 1});
  p.run(Duration::millis(1));
  EXPECT_EQ(word, 9u);
  EXPECT_EQ(before, 4u);
}

TEST(ModelNic, TornWritesEndWhole) {
  NicModel nic;
  nic.torn = 1;
  nic.torn_for = Duration::micros(50);
  Pair p(4, nic);
  std::vector<uint8_t> memory(16), bytes(16, 7);
  const Region r = *p.net.nic(1).add_region(memory, Access::kRemoteWrite);
  p.connect(0);
  const SendRequest w{.op = SendRequest::Op::kWrite, .data = bytes, .rkey = r.rkey};
  p.net.nic(0).post_send(p.qp[0], {&w, 1});
  p.run(Duration::micros(30));
  EXPECT_EQ(memory[7], 7);
  EXPECT_EQ(memory[8], 0);
  p.run(Duration::micros(50));
  EXPECT_EQ(memory, bytes);
}

}  // namespace
}  // namespace matchrdma::host
