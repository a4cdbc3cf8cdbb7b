// The parts of the channel, each alone.
#include <gtest/gtest.h>

#include "dataplane/base/prng.h"
#include "host/channel/channel_engine.h"
#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_nic.h"

namespace matchrdma::host {
namespace {

TEST(ChannelFrameCodec, SaysWhatWasSaid) {
  Prng p(1);
  for (int i = 0; i < 1000; ++i) {
    const ChannelFrame f{static_cast<ChannelFrame::Kind>(p.between(1, 7)),
                         static_cast<uint32_t>(p.next()),
                         static_cast<uint32_t>(p.next()),
                         p.next(),
                         p.next(),
                         p.next(),
                         static_cast<uint32_t>(p.next())};
    std::vector<uint8_t> bytes(kChannelFrameBytes);
    encode_frame(f, bytes);
    EXPECT_EQ(decode_frame(bytes), f);
    EXPECT_FALSE(decode_frame(Bytes(bytes).first(kChannelFrameBytes - 1)));
    bytes[0] = static_cast<uint8_t>(p.chance(0.5) ? 0 : p.between(8, 255));
    EXPECT_FALSE(decode_frame(bytes));
  }
}

// Through the NIC: a WRITE of both halves, of one, of another epoch's.
TEST(ChannelCounters, OnlyWholeOnesOfThisEpochCount) {
  NicModel nic;
  nic.torn = 1;
  nic.torn_for = Duration::micros(100);
  ModelNet net(1, nic, nic);
  CounterTable table(net.nic(1), 4);
  ASSERT_TRUE(table.begin(5).ok());
  QpHandle qp[2];
  for (uint32_t e = 0; e < 2; ++e) qp[e] = *net.nic(e).create_qp({.transport = Transport::kRc});
  for (uint32_t e = 0; e < 2; ++e)
    ASSERT_TRUE(net.nic(e).connect(qp[e], net.nic(1 - e).address(qp[1 - e]), {}).ok());
  const auto write = [&](uint32_t epoch, uint32_t index, uint64_t value, uint32_t to, Duration wait) {
    std::array<uint8_t, CounterWrite::kBytes> bytes{};
    CounterWrite::of(epoch, index, value).store(bytes);
    SendRequest r{.op = SendRequest::Op::kWrite, .data = bytes, .remote = to * CounterWrite::kBytes};
    r.rkey = table.region()->rkey;
    EXPECT_EQ(net.nic(0).post_send(qp[0], {&r, 1}), 1u);
    net.run_until(net.now() + wait);
  };
  uint64_t torn = 0;
  write(5, 2, 7, 2, Duration::micros(50));
  EXPECT_EQ(table.read(2, torn), 0u) << "half of it";
  EXPECT_EQ(torn, 1u);
  net.run_until(net.now() + Duration::millis(1));
  EXPECT_EQ(table.read(2, torn), 7u);
  write(5, 2, 9, 2, Duration::micros(50));
  EXPECT_EQ(table.read(2, torn), 7u) << "what was seen before stays";
  write(4, 2, 12, 2, Duration::millis(1));
  EXPECT_EQ(table.read(2, torn), 7u) << "of another epoch";
  write(5, 1, 13, 2, Duration::millis(1));
  EXPECT_EQ(table.read(2, torn), 7u) << "of another counter";
  write(5, 2, 14, 2, Duration::millis(1));
  EXPECT_EQ(table.read(2, torn), 14u);
  EXPECT_EQ(table.read(1, torn), 0u);
  ASSERT_TRUE(table.begin(6).ok());
  EXPECT_EQ(table.read(2, torn), 0u) << "counters begin again with the epoch";
}

/// Takes requests, and up to `room` at a time.
struct Queue final : Nic {
  const NicLimits& limits() const override { return l; }
  Result<QpHandle> create_qp(const QpOptions&) override { return QpHandle{0}; }
  QpAddress address(QpHandle) const override { return {}; }
  Result<void> connect(QpHandle, const QpAddress&, const ConnectOptions&) override { return {}; }
  void fail_qp(QpHandle) override {}
  void destroy_qp(QpHandle) override {}
  Result<Region> add_region(MutableBytes, Access) override { return Region{}; }
  void remove_region(const Region&) override {}
  size_t post_send(QpHandle, std::span<const SendRequest> r) override {
    const size_t n = std::min(r.size(), room);
    got.insert(got.end(), r.begin(), r.begin() + static_cast<std::ptrdiff_t>(n));
    return n;
  }
  size_t post_receive(QpHandle, std::span<const ReceiveRequest> r) override { return r.size(); }
  size_t poll(std::span<Completion>) override { return 0; }
  NicLimits l;
  size_t room = SIZE_MAX;
  std::vector<SendRequest> got;
};

TEST(ChannelRing, NeverHoldsMoreThanTheQueueAndAsksForTheLast) {
  Prng p(3);
  Queue nic;
  RequestRing ring(7, 1000);
  const std::array<uint8_t, 10> data{};
  uint64_t made = 0, done = 0, seen = 0;
  for (int i = 0; i < 5000; ++i) {
    for (uint64_t n = p.below(8); n > 0 && ring.free() > 0; --n, ++made) {
      SendRequest r;
      r.data = data;
      ring.add(r, {RequestNote::What::kFragment, UINT32_MAX, 0, made});
    }
    const uint32_t bells = ring.post(nic, {});
    EXPECT_LE(bells, 2u);
    ASSERT_EQ(nic.got.size(), made) << "all that was pending";
    EXPECT_LE(made - done, 7u);
    EXPECT_EQ(ring.bytes(), (made - done) * data.size());
    if (made == done) continue;
    EXPECT_TRUE(nic.got.back().signalled) << "a batch whose end nobody hears of is never free again";
    // A completion of any signalled one that is in flight.
    uint64_t id = done + p.below(made - done);
    while (!nic.got[id].signalled) ++id;
    ring.complete(id, [&](const RequestNote& note) { EXPECT_EQ(note.message, seen++); });
    done = id + 1;
    EXPECT_EQ(seen, done);
  }
}

TEST(ChannelRing, ALongBatchFreesItsBeginningEarly) {
  Queue nic;
  RequestRing ring(100, 50);
  const std::array<uint8_t, 10> data{};
  for (int i = 0; i < 100; ++i) {
    SendRequest r;
    r.data = data;
    ring.add(r, {});
  }
  EXPECT_EQ(ring.post(nic, {}), 1u);
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(nic.got[i].signalled, i % 5 == 4) << i;
}

TEST(ChannelRing, IsDrainedWhenTheLastPostedOneWasHeardOf) {
  Queue nic;
  RequestRing ring(8, 1000);
  for (int i = 0; i < 5; ++i) ring.add({}, {});
  nic.room = 3;
  ring.post(nic, {});
  EXPECT_FALSE(ring.drained());
  ring.flushed(1);
  EXPECT_FALSE(ring.drained());
  ring.flushed(2);
  EXPECT_TRUE(ring.drained()) << "two were never taken";
}

TEST(ChannelEngineOptions, WhatCannotWorkIsRefused) {
  ModelNet net(1, {}, {});
  ChannelOptions o;
  o.receives = 1 << 20;
  const auto made = ChannelEngine::make(o, net.nic(0), {});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().find("choose 4 to 65536"), std::string::npos) << made.error();
  o = {};
  o.longest_message = 100;
  auto e = *ChannelEngine::make(o, net.nic(0), {});
  const std::vector<uint8_t> bytes(101);
  EXPECT_FALSE(e->send(0, bytes, 0).ok());
  EXPECT_FALSE(e->send(o.connections, Bytes(bytes).first(1), 0).ok());
  EXPECT_TRUE(e->send(0, Bytes(bytes).first(100), 0).ok());
}

}  // namespace
}  // namespace matchrdma::host
