#include "dataplane/io/port.h"

#include "dataplane/io/device_name.h"
#include "dataplane/io/test_eal.h"

namespace matchrdma::io {
namespace {

TEST(IoPort, APacketComesBackAndItsMemoryToo) {
  TestPort t("net_ring0", 1500, 200);
  EXPECT_EQ(t.pool->available(), 200u);
  EXPECT_EQ(t.send(t.packet(60, 1)), 1u);
  EXPECT_EQ(t.send(t.packet(1514, 2)), 1u);
  {
    const auto got = t.receive();
    ASSERT_EQ(got.size(), 2u);
    EXPECT_TRUE(carries(got[0], 60, 1));
    EXPECT_TRUE(carries(got[1], 1514, 2));
    EXPECT_EQ(got[0]->tag, 7u);
    EXPECT_EQ(got[0]->refs, 1u);
  }
  EXPECT_EQ(t.pool->available(), 200u);
}

TEST(IoPort, WhatTheCoreHoldsStaysAsItIs) {
  TestPort t("net_ring0", 1500, 200);
  PacketRef kept = t.packet(1000, 3);
  EXPECT_EQ(t.send(kept.share()), 1u);
  EXPECT_EQ(kept->refs, 1u);
  EXPECT_FALSE(t.pool->at_rest(*kept));  // the device has it still: nobody may write into it
  EXPECT_TRUE(carries(kept, 1000, 3));
  {
    // The ring brings back the very memory that the core holds: what is received must be another packet.
    auto got = t.receive();
    ASSERT_EQ(got.size(), 1u);
    EXPECT_NE(got[0].get(), kept.get());
    EXPECT_EQ(t.port->queue_stats(0).rx_copied, 1u);
    got[0]->data[0] = 0xff;
    EXPECT_TRUE(carries(kept, 1000, 3));
  }
  EXPECT_EQ(t.pool->available(), 199u);
  EXPECT_TRUE(t.pool->at_rest(*kept));
  // Sent once more, as custody does, and given up while the device has it.
  EXPECT_EQ(t.send(kept.share()), 1u);
  kept.reset();
  EXPECT_EQ(t.pool->available(), 199u);
  {
    const auto got = t.receive();
    ASSERT_EQ(got.size(), 1u);
    EXPECT_TRUE(carries(got[0], 1000, 3));
  }
  EXPECT_EQ(t.pool->available(), 200u);
}

TEST(IoPort, HeadersMayBeTakenOffAndPutOn) {
  TestPort t("net_ring0", 1500, 100);
  PacketRef p = t.packet(400, 4);
  p->data += 4;
  p->size -= 4;
  const uint8_t first = p->data[0];
  EXPECT_EQ(t.send(std::move(p)), 1u);
  const auto got = t.receive();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0]->size, 396u);
  EXPECT_EQ(got[0]->data[0], first);
}

TEST(IoPort, Jumbo) {
  TestPort t("net_ring0", 9216, 100);
  EXPECT_EQ(t.port->mtu(), 9216u);
  EXPECT_EQ(t.send(t.packet(9230, 5)), 1u);
  const auto got = t.receive();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_TRUE(carries(got[0], 9230, 5));
  EXPECT_GE(got[0]->capacity, 9230u);
}

TEST(IoPort, AFullDeviceDropsAndCounts) {
  TestPort t("net_ring0", 1500, 3000);
  uint64_t sent = 0, tried = 0;
  for (int burst = 0; burst < 40; ++burst) {
    std::vector<PacketRef> packets;
    for (uint8_t i = 0; i < 64; ++i) packets.push_back(t.packet(64, i));
    tried += packets.size();
    sent += t.port->tx_burst(0, Lane::kBulk, packets);
    for (const PacketRef& p : packets) EXPECT_FALSE(p);
  }
  EXPECT_LT(sent, tried);
  EXPECT_EQ(t.port->queue_stats(0).tx_full, tried - sent);
  EXPECT_EQ(t.pool->available(), 3000 - sent);
  uint64_t received = 0;
  for (auto got = t.receive(); !got.empty(); got = t.receive()) received += got.size();
  EXPECT_EQ(received, sent);
  EXPECT_EQ(t.pool->available(), 3000u);
}

TEST(IoPort, AnEmptyPoolGivesEmptyReferences) {
  TestPort t("net_null0", 1500, 100);
  std::vector<PacketRef> all;
  while (PacketRef p = t.pool->alloc(100)) all.push_back(std::move(p));
  EXPECT_EQ(all.size(), 100u);
  EXPECT_TRUE(t.receive().empty());
  all.resize(100 - Port::kMaxBurst);
  EXPECT_EQ(t.receive().size(), Port::kMaxBurst);
  EXPECT_TRUE(t.pool->alloc(t.pool->packet_room()));
  EXPECT_FALSE(t.pool->alloc(t.pool->packet_room() + 1));
}

TEST(IoPort, TellsWhatItCan) {
  TestPort t("net_null0", 0, 100);
  EXPECT_EQ(t.port->abilities().driver, "net_null");
  EXPECT_FALSE(t.port->abilities().wakes);
  EXPECT_FALSE(t.port->abilities().kernel_backed);
  EXPECT_EQ(t.port->name(), "net_null0");
  EXPECT_FALSE(t.port->poll_link().has_value());
  EXPECT_TRUE(t.port->wake_descriptors(0).empty());
}

TEST(IoPort, TwoWorkersOnOneQueueEach) {
  test_eal();
  const auto plan = plan_port({.device = "net_null0", .workers = 2, .mtu = 1500});
  ASSERT_TRUE(plan.ok());
  auto first = MbufPool::create("first", 200, plan->packet_room);
  auto second = MbufPool::create("second", 200, plan->packet_room);
  ASSERT_TRUE(first.ok() && second.ok());
  MbufPool* const pools[] = {first->get(), second->get()};
  auto port = Port::open(*plan, pools);
  ASSERT_TRUE(port.ok()) << port.error();
  EXPECT_TRUE((*port)->abilities().control_queues);
  for (uint16_t w = 0; w < 2; ++w) {
    std::vector<PacketRef> got(32);
    const uint32_t n = (*port)->rx_burst(w, got);
    // Without RSS only the first worker receives; a Dispatch brings the second its share.
    EXPECT_EQ(n, w == 0 || (*port)->abilities().rss ? 32u : 0u);
    for (uint32_t i = 0; i < n; ++i) EXPECT_EQ(got[i]->pool, pools[w]);
    got.resize(n);
    EXPECT_EQ((*port)->tx_burst(w, Lane::kControl, got), n);
  }
  EXPECT_EQ((*first)->available(), 200u);
  EXPECT_EQ((*second)->available(), 200u);
}

/// What opening this device complains about.
std::string complaint(const std::string& device) {
  test_eal();
  const auto plan = plan_port({.device = device});
  if (!plan) return plan.error();
  auto pool = MbufPool::create("test", 100, plan->packet_room);
  if (!pool) return pool.error();
  MbufPool* const pools[] = {pool->get()};
  const auto port = Port::open(*plan, pools);
  return port ? "" : port.error();
}

TEST(IoPort, ComplaintsSayWhatToDo) {
  EXPECT_EQ(complaint("eth1"),
            "port eth1: neither a PCI address like 0000:3b:00.0 nor a vdev like net_af_packet0,iface=eth1");
  EXPECT_EQ(complaint("net_af_packet0"),
            "port net_af_packet0: needs an interface of the kernel; write net_af_packet0,iface=NAME");
  EXPECT_NE(
      complaint("net_af_packet0,iface=nosuch").find("interface nosuch: its MTU cannot be read: No such device"),
      std::string::npos);
  EXPECT_NE(complaint("net_nosuch0").find("port net_nosuch0: the device was refused"), std::string::npos);
  const std::string wrong = complaint("net_null0,colour=red");
  EXPECT_NE(wrong.find("DPDK says: "), std::string::npos) << wrong;
  // The name is free again.
  EXPECT_EQ(complaint("net_null0"), "");
}

TEST(IoPool, SizeIsASum) {
  const PoolSize s = pool_size({.rx_rings = 1024, .tx_rings = 2048, .kept = 10000}, 1526);
  EXPECT_EQ(s.packets, 1024 + 2048 + 10000 + s.slack);
  EXPECT_EQ(s.arithmetic.find("1024 in receive rings + 2048 in transmit rings + 10000 kept + "), 0u);
  EXPECT_NEAR(static_cast<double>(packets_in(s.bytes, 1526)), s.packets, 1);
}

TEST(IoPool, TooMuchIsRefused) {
  test_eal();
  const auto pool = MbufPool::create("big", 1'000'000, 9000);
  ASSERT_FALSE(pool.ok());
  EXPECT_NE(pool.error().find("give DPDK more memory or keep fewer packets"), std::string::npos);
}

TEST(IoDevice, Names) {
  const auto pci = parse_device("0000:3b:00.0,some=arg");
  ASSERT_TRUE(pci.ok());
  EXPECT_EQ(pci->kind, DeviceName::Kind::kPci);
  auto af = parse_device("net_af_packet3,iface=veth0,framesz=4096");
  ASSERT_TRUE(af.ok());
  EXPECT_EQ(af->interface, "veth0");
  af->add_default("framesz", "1");
  af->add_default("blocksz", "2");
  EXPECT_EQ(af->arguments, "iface=veth0,framesz=4096,blocksz=2");
  const auto ring = af_packet_ring(9022);
  EXPECT_GE(ring.frame_bytes, 9022u + 66);
  EXPECT_EQ(ring.block_bytes % 4096, 0u);
  EXPECT_EQ(ring.block_bytes % ring.frame_bytes, 0u);
}

}  // namespace
}  // namespace matchrdma::io
