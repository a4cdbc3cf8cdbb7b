#include <gtest/gtest.h>

#include "tests/host/sdr_rig.h"

namespace matchrdma::host::test {
namespace {

RigSettings usual() {
  RigSettings s;
  s.there.delay = s.back.delay = Duration::millis(1);
  s.sdr.shape.packet_bytes = 1024;
  s.sdr.shape.layout = *ImmediateLayout::of(8, 128);
  s.sdr.connection.path_mtu = 1024;
  s.sdr.sender.rate = {10'000'000'000};
  s.sdr.receiver.slots = 8;
  return s;
}

TEST(Sdr, CleanPathCarriesEachPacketOnce) {
  SdrRig rig(usual());
  EXPECT_EQ(rig.run(), "");
  EXPECT_EQ(rig.a().sender().counters().resent, 0u);
  EXPECT_EQ(rig.b().receiver().counters().duplicates, 0u);
}

TEST(Sdr, LossIsRepaired) {
  for (const double loss : {0.001, 0.01, 0.2}) {
    RigSettings s = usual();
    s.there.loss = s.back.loss = loss;
    s.traffic.messages = 50;
    SdrRig rig(s);
    EXPECT_EQ(rig.run(), "") << loss;
    if (loss >= 0.01) {
      EXPECT_GT(rig.a().sender().counters().resent, 0u);
    }
  }
}

// A report of many packets takes several datagrams, and each speaks for its own piece alone.
TEST(Sdr, ReportsOfSeveralDatagramsRepairToo) {
  RigSettings s = usual();
  s.there.loss = 0.02;
  s.sdr.shape.datagram_bytes = kSignalHeader + kGrantBytes;
  s.sdr.shape.packet_bytes = 64;
  s.sdr.shape.layout = *ImmediateLayout::of(8, 5000);
  s.traffic.messages = 3;
  s.traffic.least_bytes = s.traffic.most_bytes = 5000 * 64;
  SdrRig rig(s);
  EXPECT_EQ(rig.run(), "");
  EXPECT_GT(rig.net().counters(0).lost, 100u);
}

// H4: a report tells of nothing that was sent less than a round trip before.
TEST(Sdr, OnlyWhatWasLostIsSentAgain) {
  RigSettings s = usual();
  s.there.loss = 0.05;
  s.traffic.messages = 20;
  s.traffic.least_bytes = s.traffic.most_bytes = 100'000;
  SdrRig rig(s);
  EXPECT_EQ(rig.run(), "");
  const uint64_t lost = rig.net().counters(0).lost;
  EXPECT_GT(lost, 50u);
  EXPECT_LE(rig.a().sender().counters().resent, lost) << "some of what was lost were signals";
}

// C8: a loss far above what was configured is congestion.
TEST(Sdr, MuchLossHalvesTheRate) {
  for (const double loss : {0.0005, 0.05}) {
    RigSettings s = usual();
    s.there.loss = loss;
    s.sdr.sender.expected_loss = 0.005;
    s.traffic.messages = 100;
    s.traffic.least_bytes = s.traffic.most_bytes = 100'000;
    SdrRig rig(s);
    EXPECT_EQ(rig.run(), "");
    EXPECT_EQ(rig.a().sender().counters().rate_halved > 0, loss > 0.01) << loss;
  }
}

// H1, H2: with nowhere to receive packets are dropped in silence, and come again.
TEST(Sdr, AnEmptyReceiveQueueIsLossAndNoMore) {
  RigSettings s = usual();
  s.sdr.receive_queue = 64;
  s.most_pause = Duration::millis(1);
  s.traffic.messages = 20;
  SdrRig rig(s);
  EXPECT_EQ(rig.run(), "");
  EXPECT_GT(rig.net().nic(1).counters().no_receive, 0u);
  EXPECT_GT(rig.b().counters().rq_low, 0u);
}

// What the receiver grants is all that may be written; a longer message is an error of its sender.
TEST(Sdr, MessageLongerThanItsBufferIsRefusedAtTheSender) {
  const RigSettings s = usual();
  ModelNet net(1, s.nic, s.nic);
  auto a = SdrEndpoint::make(s.sdr, net.nic(0), {}), b = SdrEndpoint::make(s.sdr, net.nic(1), {});
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_TRUE((*a)->connect((*b)->addresses()).ok() && (*b)->connect((*a)->addresses()).ok());
  std::vector<uint8_t> source(1000, 1), target(999);
  ASSERT_TRUE((*b)->receiver().receive_post(target, net.now()).ok());
  ASSERT_TRUE((*a)->sender().send(source, 0).ok());
  std::optional<SendDone> done;
  for (int i = 0; i < 1000 && !done; ++i) {
    (*a)->poll(net.now());
    (*b)->poll(net.now());
    net.run_until(net.now() + Duration::micros(10));
    done = (*a)->sender().take_done();
  }
  ASSERT_TRUE(done);
  EXPECT_EQ(done->error, "the message has 1000 bytes and the receiver granted 999");
  EXPECT_EQ(target, std::vector<uint8_t>(999));
}

// Far more than the peer grants at a time.
TEST(Sdr, ThousandsOfMessagesMayWait) {
  RigSettings s = usual();
  s.there.loss = 0.01;
  s.traffic.messages = 5000;
  s.traffic.least_bytes = s.traffic.most_bytes = 100;
  s.traffic.buffers = 8;
  s.there.delay = s.back.delay = Duration::micros(10);
  s.sdr.receiver.generation_rest = Duration::micros(100);
  SdrRig rig(s);
  EXPECT_EQ(rig.run(), "");
  EXPECT_EQ(rig.delivered(), 5000u);
}

// Either queue pair: without signals nothing ends either.
TEST(Sdr, AFailedQueuePairIsNoticed) {
  const RigSettings s = usual();
  for (const uint32_t which : {0u, 1u}) {
    ModelNet net(1, s.nic, s.nic);
    auto a = SdrEndpoint::make(s.sdr, net.nic(0), {}), b = SdrEndpoint::make(s.sdr, net.nic(1), {});
    ASSERT_TRUE(a.ok() && b.ok());
    ASSERT_TRUE((*a)->connect((*b)->addresses()).ok() && (*b)->connect((*a)->addresses()).ok());
    (*a)->poll(net.now());
    EXPECT_FALSE((*a)->failed());
    net.nic(0).fail_qp(QpHandle{which});
    (*a)->poll(net.now());
    EXPECT_TRUE((*a)->failed()) << which;
    EXPECT_FALSE((*b)->failed());
  }
}

}  // namespace
}  // namespace matchrdma::host::test
