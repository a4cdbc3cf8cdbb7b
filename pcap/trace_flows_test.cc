#include "pcap/trace_flows.h"

#include <gtest/gtest.h>

#include "dataplane/wire/source_port.h"
#include "pcap/test_conversation.h"

namespace matchrdma {
namespace {

using test::Conversation;

/// The stream to QP `qpn` of host B (`to_b`) or A.
const TraceStream& stream(const TraceFlows& t, uint32_t qpn, bool to_b) {
  const IpAddress dst = Conversation::net(to_b, 0).dst;
  for (const TraceStream& s : t.streams())
    if (s.key.dst_qpn.v == qpn && s.key.dst == dst) return s;
  ADD_FAILURE() << "no stream to QP " << qpn;
  return t.streams().front();
}

TEST(TraceFlows, OnePairWithItsNumbers) {
  Conversation c;
  for (uint32_t m = 0; m < 4; ++m) {
    c.a(Conversation::request(op::kRcWriteFirst, 0x12, 1000 + 2 * m, 2048));
    c.a(Conversation::request(op::kRcWriteLast, 0x12, 1001 + 2 * m, 100));
    c.b(Conversation::ack(0x11, 1001 + 2 * m, 71 + m));
  }
  const TraceFlows t = c.scan();
  const TraceStream& s = stream(t, 0x12, true);
  EXPECT_EQ(s.request_packets, 8u);
  EXPECT_EQ(s.messages, 4u);
  EXPECT_EQ(s.bytes, 4 * 2148u);
  EXPECT_EQ(s.path_mtu, 2048u);
  EXPECT_EQ(s.msn_before, 70);
  const auto regs = t.registrations(Completion::kEarly);
  ASSERT_EQ(regs.size(), 1u);
  EXPECT_EQ(regs[0].a.qpn.v, 0x11u);
  EXPECT_EQ(regs[0].b.qpn.v, 0x12u);
  EXPECT_TRUE(regs[0].a.has_start);
  EXPECT_EQ(regs[0].a.start.v, 1000u);
  EXPECT_EQ(regs[0].a.msn, 70);
  EXPECT_FALSE(regs[0].b.has_start);
  EXPECT_EQ(regs[0].path_mtu, 2048u);
  EXPECT_FALSE(regs[0].credits);
}

// Eight queue pairs in lock step, all from PSN 0: only the port that both ends share tells them apart.
TEST(TraceFlows, LockStepPairsBySharedPort) {
  Conversation c;
  for (uint32_t m = 0; m < 20; ++m) {
    for (uint16_t q = 0; q < 8; ++q) {
      const auto port = static_cast<uint16_t>(0xc000 + 7 * q);
      c.a(Conversation::request(op::kRcSendOnly, 0x100u + q, m), port);
    }
    for (uint16_t q = 0; q < 8; ++q) {
      const auto port = static_cast<uint16_t>(0xc000 + 7 * q);
      c.b(Conversation::ack(0x207u - q, m, m + 1), port);
    }
  }
  const TraceFlows t = c.scan();
  for (uint32_t q = 0; q < 8; ++q) {
    const TraceStream& s = stream(t, 0x100 + q, true);
    ASSERT_GE(s.partner, 0) << s.evidence;
    EXPECT_EQ(t.streams()[static_cast<size_t>(s.partner)].key.dst_qpn.v, 0x207u - q);
  }
}

TEST(TraceFlows, LockStepWithOneFixedPortStaysUnpaired) {
  Conversation c;
  for (uint32_t m = 0; m < 20; ++m) {
    for (uint16_t q = 0; q < 2; ++q) c.a(Conversation::request(op::kRcSendOnly, 0x100u + q, m));
    for (uint16_t q = 0; q < 2; ++q) c.b(Conversation::ack(0x200u + q, m, m + 1));
  }
  const TraceFlows t = c.scan();
  EXPECT_TRUE(t.registrations(Completion::kEarly).empty());
  EXPECT_EQ(std::string(stream(t, 0x100, true).evidence), "ambiguous: several queue pairs fit");
}

// Same PSNs, same port: message counts out of step give it away.
TEST(TraceFlows, MessageCountsTellPairsApart) {
  Conversation c;
  for (uint32_t m = 0; m < 40; ++m) {
    c.a(Conversation::request(op::kRcSendOnly, 0x100, m));
    c.a(Conversation::request(m % 3 == 2   ? op::kRcSendLast
                              : m % 3 == 0 ? op::kRcSendFirst
                                           : op::kRcSendMiddle,
                              0x101, m, 1024));
    c.b(Conversation::ack(0x200, m, m + 1));
    if (m % 3 == 2) c.b(Conversation::ack(0x201, m, m / 3 + 1));
  }
  const TraceFlows t = c.scan();
  const TraceStream& s = stream(t, 0x100, true);
  ASSERT_GE(s.partner, 0) << s.evidence;
  EXPECT_EQ(t.streams()[static_cast<size_t>(s.partner)].key.dst_qpn.v, 0x200u);
}

// Beyond doubt: derived ports, or a birth far from everybody else's numbers. A port that is only the same on
// both ways is neither.
TEST(TraceFlows, OnlyWhatIsBeyondDoubtIsRegistered) {
  struct Case {
    const char* name;
    uint32_t start_x, start_y;
    uint16_t port_x, port_y;
    size_t registered;
  };
  const uint16_t hash_x = hashed_source_port(Qpn{0x201}, Qpn{0x101}),
                 hash_y = hashed_source_port(Qpn{0x202}, Qpn{0x102});
  const Case cases[] = {{"hashed ports", 0, 0, hash_x, hash_y, 2},
                        {"one hashed port", 0, 0, hash_x, 0xc000, 1},
                        {"ports of their own", 0, 0, 0xc001, 0xc002, 0},
                        {"one port, far apart", 0x100000, 0x300000, 0xc001, 0xc001, 2},
                        {"one port, near", 0x100000, 0x108000, 0xc001, 0xc001, 0},
                        {"one port, near over the end of the circle", 0xfffff0, 0x20, 0xc001, 0xc001, 0},
                        {"one port, at zero", 0, 0x300000, 0xc001, 0xc001, 1}};
  for (const Case& k : cases) {
    Conversation c;
    for (uint32_t m = 0; m < 10; ++m) {
      const auto psn = [m](uint32_t start) { return (start + m) & Psn::kMask; };
      c.a(Conversation::request(op::kRcSendOnly, 0x101, psn(k.start_x)), k.port_x);
      c.a(Conversation::request(op::kRcSendOnly, 0x102, psn(k.start_y)), k.port_y);
      c.b(Conversation::ack(0x201, psn(k.start_x), m + 1), k.port_x);
      c.b(Conversation::ack(0x202, psn(k.start_y), m + 1), k.port_y);
    }
    EXPECT_EQ(c.scan().registrations(Completion::kEarly).size(), k.registered) << k.name;
  }
}

TEST(TraceFlows, BothWaysOnOnePair) {
  Conversation c;
  for (uint32_t m = 0; m < 5; ++m) {
    c.a(Conversation::request(op::kRcSendOnly, 0x29, 500 + m));
    c.b(Conversation::ack(0x29, 500 + m, m + 1));
    c.b(Conversation::request(op::kRcSendOnly, 0x29, 900 + m));
    c.a(Conversation::ack(0x29, 900 + m, m + 1));
  }
  const TraceFlows t = c.scan();
  const auto regs = t.registrations(Completion::kEarly);
  ASSERT_EQ(regs.size(), 1u);
  EXPECT_EQ(regs[0].a.start.v, 500u);
  EXPECT_EQ(regs[0].b.start.v, 900u);
  EXPECT_EQ(regs[0].path_mtu, 1024u);
}

TEST(TraceFlows, CreditsAreSeen) {
  Conversation c;
  for (uint32_t m = 0; m < 4; ++m) {
    c.a(Conversation::request(op::kRcSendOnly, 0x12, m));
    c.b(Conversation::ack(0x11, m, m + 1, kAethAck | 10));
  }
  const auto regs = c.scan().registrations(Completion::kEarly);
  ASSERT_EQ(regs.size(), 1u);
  EXPECT_TRUE(regs[0].credits);
}

TEST(TraceFlows, WithoutAnswersNothingIsRegistered) {
  Conversation c;
  for (uint32_t m = 0; m < 4; ++m) c.a(Conversation::request(op::kRcSendOnly, 0x12, m));
  const TraceFlows t = c.scan();
  EXPECT_TRUE(t.registrations(Completion::kEarly).empty());
  EXPECT_EQ(std::string(stream(t, 0x12, true).evidence), "no answers seen that fit");
}

// The very first message lost its LAST before the tap: counted all the same when it comes again.
TEST(TraceFlows, LateMessageEndIsCounted) {
  Conversation c;
  c.a(Conversation::request(op::kRcWriteFirst, 0x12, 10, 1024));
  c.a(Conversation::request(op::kRcWriteFirst, 0x12, 12, 1024));
  c.b(Conversation::ack(0x11, 11, 0, kNakSequence));
  c.a(Conversation::request(op::kRcWriteLast, 0x12, 11, 10));
  c.a(Conversation::request(op::kRcWriteFirst, 0x12, 12, 1024));
  c.a(Conversation::request(op::kRcWriteLast, 0x12, 13, 10));
  c.b(Conversation::ack(0x11, 13, 2));
  const TraceFlows t = c.scan();
  EXPECT_EQ(stream(t, 0x12, true).messages, 2u);
  EXPECT_EQ(stream(t, 0x12, true).msn_before, 0);
}

// C13: a retry asks for the rest of a READ at a PSN inside its range; it is no new message.
TEST(TraceFlows, ReadRetryIsNoNewMessage) {
  Conversation c;
  RoceSpec read = Conversation::request(op::kRcReadReq, 0x12, 100);
  read.va = 0x10000;
  read.dma_length = 8192;
  RoceSpec retry = read;
  retry.psn = Psn{103};
  retry.va += 3 * 1024;
  retry.dma_length -= 3 * 1024;
  RoceSpec next = read;
  next.psn = Psn{108};
  c.a(read).a(retry).a(next);
  for (uint32_t i = 0; i < 8; ++i) {
    RoceSpec r;
    r.opcode = i == 0 ? op::kRcReadRespFirst : i == 7 ? op::kRcReadRespLast : op::kRcReadRespMiddle;
    r.dest_qp = Qpn{0x11};
    r.psn = Psn{100 + i};
    r.msn = Msn{1};
    r.syndrome = 31;
    static const std::vector<uint8_t> kData(1024);
    r.payload = kData;
    c.b(r);
  }
  const TraceFlows t = c.scan();
  EXPECT_EQ(stream(t, 0x12, true).messages, 2u);
  EXPECT_EQ(stream(t, 0x12, true).path_mtu, 1024u);
  EXPECT_EQ(stream(t, 0x12, true).msn_before, 0);
}

TEST(TraceFlows, WrongIcrcCountsButTellsNothing) {
  Conversation c;
  auto spoiled = Conversation::frame(true, Conversation::request(op::kRcSendOnly, 0x99, 1));
  spoiled.back() ^= 1;
  c.add(spoiled);
  const TraceFlows t = c.scan();
  EXPECT_EQ(t.counts().icrc_bad, 1u);
  EXPECT_EQ(t.counts().roce, 1u);
  EXPECT_TRUE(t.streams().empty());
}

TEST(TraceSites, FirstRequesterIsA) {
  Conversation c;
  c.b(Conversation::ack(0x11, 5, 1))
      .b(Conversation::request(op::kRcSendOnly, 0x11, 1))
      .a(Conversation::request(op::kRcSendOnly, 0x12, 1));
  const TraceFlows t = c.scan();
  EXPECT_EQ(t.sites().place(Conversation::frame(false, Conversation::ack(1, 1, 1))).site, 0);
  EXPECT_EQ(t.sites().place(Conversation::frame(true, Conversation::ack(1, 1, 1))).site, 1);
}

TEST(TraceSites, WhatIsNotIpFollowsItsMac) {
  Conversation c;
  std::vector<uint8_t> arp(60);
  arp[5] = 0xff;
  arp[6] = 2;
  arp[11] = 2;  // host B
  arp[12] = 0x08;
  arp[13] = 0x06;
  c.add(arp).a(Conversation::request(op::kRcSendOnly, 0x12, 1)).b(Conversation::ack(0x11, 1, 1));
  const TraceFlows t = c.scan();
  EXPECT_EQ(t.sites().place(arp).site, 1);
  EXPECT_EQ(t.sites().place(arp).host,
            t.sites().place(Conversation::frame(false, Conversation::ack(1, 1, 1))).host);
  ASSERT_EQ(t.sites().hosts().size(), 2u);
}

TEST(Cidr, ParsesAndContains) {
  const Cidr block = *Cidr::parse("10.9.0.0/23");
  const auto v4 = [](uint8_t c, uint8_t d) {
    return IpAddress::v4(std::array<uint8_t, 4>{10, 9, c, d}.data());
  };
  EXPECT_TRUE(block.contains(v4(0, 1)));
  EXPECT_TRUE(block.contains(v4(1, 255)));
  EXPECT_FALSE(block.contains(v4(2, 0)));
  EXPECT_TRUE(Cidr::parse("0.0.0.0/0")->contains(v4(9, 9)));
  EXPECT_FALSE(Cidr::parse("fd09::/16")->contains(v4(9, 9)));
  for (const char* bad : {"", "10.9", "10.9.0.0/33", "fd09::/129", "10.9.0.0/", "10.9.0.0/x", "10.9.0.0/8 "})
    EXPECT_FALSE(Cidr::parse(bad).ok()) << bad;
}

}  // namespace
}  // namespace matchrdma
