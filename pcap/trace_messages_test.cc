// Messages of every shipped capture against what was run when it was taken (pcap/traces/README.md), and the
// rules one by one.
#include "pcap/trace_messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pcap/test_conversation.h"

namespace matchrdma {
namespace {

using test::Conversation;

TraceMessages of_file(const std::string& name) {
  const std::string path = std::string(MATCHRDMA_SOURCE_DIR) + "/pcap/traces/" + name + ".pcap";
  const auto open = [&] { return *CaptureReader::open(path); };
  const auto flows = TraceFlows::scan(open(), std::nullopt, nullptr);
  EXPECT_TRUE(flows.ok()) << flows.error();
  auto m = read_messages(open(), flows.value());
  EXPECT_TRUE(m.ok()) << m.error();
  return *std::move(m);
}

TraceMessages of(const Conversation& c) {
  const TraceFlows flows = c.scan();
  auto m = read_messages(*CaptureReader::from_bytes(c.bytes(), "conversation"), flows);
  EXPECT_TRUE(m.ok()) << m.error();
  return *std::move(m);
}

// ---- captures ----

struct Truth {
  const char* file;
  size_t messages;
  uint64_t bytes;  ///< of each
  size_t qps, reads;
};

class Captured : public testing::TestWithParam<Truth> {};
INSTANTIATE_TEST_SUITE_P(
    Traces, Captured,
    testing::Values(Truth{"b_write_bw_64k_pmtu1024", 5, 65536, 1, 0},
                    Truth{"b2_write_bw_64k_pmtu4096", 5, 65536, 1, 0},
                    Truth{"b4_write_bw_with_tcp_oob_same_net", 5, 8192, 1, 0},
                    Truth{"c_send_bw_pmtu1024", 5, 65536, 1, 0}, Truth{"c2_send_bw_pmtu4096", 5, 65536, 1, 0},
                    Truth{"d_read_bw_pmtu1024", 5, 65536, 1, 5}, Truth{"e_atomic_fetchadd", 0, 0, 0, 0},
                    Truth{"f_loss_write_tapA", 20, 8192, 1, 0}, Truth{"f_loss_write_tapB", 20, 8192, 1, 0},
                    Truth{"f2_corrupt_payload_tapB", 20, 8192, 1, 0}, Truth{"f_loss_read_tapA", 5, 8192, 1, 5},
                    Truth{"f_loss_read_tapB", 5, 8192, 1, 5}, Truth{"g_uc_write", 5, 16384, 1, 0},
                    Truth{"g2_uc_send", 5, 16384, 1, 0}, Truth{"h_ipv6_write", 5, 65536, 1, 0},
                    Truth{"i_rc_pingpong_imm", 20, 4096, 2, 0}, Truth{"i2_4qps", 20, 16384, 4, 0},
                    Truth{"j_ecn_ect0", 5, 16384, 1, 0}, Truth{"j2_ecn_ce_marked_by_bridge", 5, 16384, 1, 0},
                    Truth{"k2_send_rnr_nak", 30, 2048, 1, 0}, Truth{"l_cnp_injected", 0, 0, 0, 0}),
    [](const auto& i) { return std::string(i.param.file); });

TEST_P(Captured, HasTheMessagesThatWereRun) {
  const Truth& truth = GetParam();
  const TraceMessages t = of_file(truth.file);
  EXPECT_EQ(t.messages.size(), truth.messages);
  EXPECT_EQ(t.cut_off, 0u);
  size_t reads = 0;
  std::vector<uint32_t> qps;
  for (const TraceMessage& m : t.messages) {
    EXPECT_EQ(m.bytes, truth.bytes);
    EXPECT_GE(m.completed, m.start);
    EXPECT_FALSE(m.completed.is_never());
    reads += m.read;
    if (std::find(qps.begin(), qps.end(), m.qp) == qps.end()) qps.push_back(m.qp);
    // The client A asks in all but the ping-pong; what it reads comes from B.
    if (truth.qps != 2) {
      EXPECT_EQ(m.source < m.destination, !m.read);
    }
  }
  EXPECT_EQ(reads, truth.reads);
  EXPECT_EQ(qps.size(), truth.qps);
}

// Of five rounds each: a READ, a WRITE and four SENDs.
TEST(CapturedRping, HasSendsWritesAndReadsOverBothIps) {
  for (const char* file : {"a_rping_rc_cm", "h2_ipv6_rping"}) {
    const TraceMessages t = of_file(file);
    EXPECT_EQ(t.messages.size(), 20u + 5 + 5);
    EXPECT_EQ(t.cut_off, 0u);
    EXPECT_EQ(std::count_if(t.messages.begin(), t.messages.end(), [](const TraceMessage& m) { return m.read; }),
              5);
  }
}

// ---- rules ----

RoceSpec read_request(uint32_t psn, uint64_t va, uint32_t bytes) {
  RoceSpec r = Conversation::request(op::kRcReadReq, 0x12, psn, bytes);
  r.va = va;
  return r;
}

RoceSpec read_response(uint8_t opcode, uint32_t psn) {
  static const std::vector<uint8_t> kData(1024);
  RoceSpec r;
  r.opcode = opcode;
  r.dest_qp = Qpn{0x11};
  r.psn = Psn{psn};
  r.msn = Msn{1};
  r.syndrome = 31;
  r.payload = kData;
  return r;
}

TEST(TraceMessages, StartsAndCompletionsAreTheTimesAtTheTap) {
  Conversation c;
  c.a(Conversation::request(op::kRcWriteFirst, 0x12, 10, 1024));  // the RETH says 1024, whatever follows
  c.a(Conversation::request(op::kRcWriteLast, 0x12, 11, 100));
  c.a(Conversation::request(op::kRcSendFirst, 0x12, 12, 1024));
  c.b(Conversation::ack(0x11, 11, 1));
  c.a(Conversation::request(op::kRcSendMiddle, 0x12, 13, 1024));
  c.a(Conversation::request(op::kRcSendLast, 0x12, 14, 7));
  c.a(Conversation::request(op::kRcSendOnly, 0x12, 15, 33));
  c.b(Conversation::ack(0x11, 15, 3));
  const TraceMessages t = of(c);
  ASSERT_EQ(t.messages.size(), 3u);
  const std::vector<uint64_t> bytes{1024, 2 * 1024 + 7, 33};
  const std::vector<size_t> starts{0, 2, 6}, ends{3, 7, 7};
  for (size_t i = 0; i < 3; ++i) {
    const TraceMessage& m = t.messages[i];
    EXPECT_EQ(m.bytes, bytes[i]);
    EXPECT_EQ(m.start, Conversation::time_of(starts[i]));
    EXPECT_EQ(m.completed, Conversation::time_of(ends[i]));
    EXPECT_EQ(m.source, Conversation::net(true, 0).src);
    EXPECT_EQ(m.destination, Conversation::net(true, 0).dst);
  }
}

TEST(TraceMessages, ANakCompletesWhatIsBeforeIt) {
  Conversation c;
  for (uint32_t psn = 5; psn < 9; ++psn) c.a(Conversation::request(op::kRcSendOnly, 0x12, psn));
  c.b(Conversation::ack(0x11, 7, 2, kNakSequence));
  c.a(Conversation::request(op::kRcSendOnly, 0x12, 7)).a(Conversation::request(op::kRcSendOnly, 0x12, 8));
  c.b(Conversation::ack(0x11, 8, 4));
  const TraceMessages t = of(c);
  ASSERT_EQ(t.messages.size(), 4u);
  EXPECT_EQ(t.messages[1].completed, Conversation::time_of(4));
  EXPECT_EQ(t.messages[2].start, Conversation::time_of(2));
  EXPECT_EQ(t.messages[2].completed, Conversation::time_of(7));
}

// The tap did not see the end of one message and the beginning of the next until they came again.
TEST(TraceMessages, WhatComesLateIsPutInItsPlace) {
  Conversation c;
  const auto first = [&](uint32_t psn) { c.a(Conversation::request(op::kRcSendFirst, 0x12, psn, 1024)); };
  const auto last = [&](uint32_t psn) { c.a(Conversation::request(op::kRcSendLast, 0x12, psn, 10)); };
  first(20);
  last(23);  // of the second
  c.b(Conversation::ack(0x11, 21, 0, kNakSequence));
  last(21);
  first(22);
  last(23);
  c.b(Conversation::ack(0x11, 23, 2));
  const TraceMessages t = of(c);
  ASSERT_EQ(t.messages.size(), 2u);
  EXPECT_EQ(t.cut_off, 0u);
  for (const TraceMessage& m : t.messages) EXPECT_EQ(m.bytes, 1034u);
}

TEST(TraceMessages, HalfMessagesAtTheEndsOfTheCaptureAreCounted) {
  Conversation c;
  c.a(Conversation::request(op::kRcSendLast, 0x12, 9, 10));
  c.a(Conversation::request(op::kRcSendOnly, 0x12, 10, 10));
  c.b(Conversation::ack(0x11, 10, 1));
  c.a(Conversation::request(op::kRcSendFirst, 0x12, 11, 1024));  // and a packet that the tap has lost
  c.a(Conversation::request(op::kRcSendOnly, 0x12, 13, 10));
  c.b(Conversation::ack(0x11, 13, 3));
  c.a(Conversation::request(op::kRcSendFirst, 0x12, 14, 1024));
  const TraceMessages t = of(c);
  EXPECT_EQ(t.cut_off, 3u);
  ASSERT_EQ(t.messages.size(), 2u);
  EXPECT_EQ(t.messages[0].completed, Conversation::time_of(2));
  EXPECT_EQ(t.messages[1].completed, Conversation::time_of(5));
}

// C13: a retry asks for the rest of a READ at a PSN inside its range.
TEST(TraceMessages, AReadIsOneMessageHoweverOftenItIsAskedFor) {
  Conversation c;
  c.a(read_request(100, 0x10000, 4096));
  c.b(read_response(op::kRcReadRespFirst, 100)).b(read_response(op::kRcReadRespLast, 103));
  c.a(read_request(101, 0x10400, 3072));
  c.b(read_response(op::kRcReadRespFirst, 101)).b(read_response(op::kRcReadRespMiddle, 102));
  c.b(read_response(op::kRcReadRespLast, 103));
  c.a(read_request(104, 0x10000, 4096));  // the same memory again
  c.a(read_request(110, 0x10800, 2048));  // the rest of a READ that the tap has not seen
  const TraceMessages t = of(c);
  ASSERT_EQ(t.messages.size(), 3u);
  EXPECT_EQ(t.messages[0].bytes, 4096u);
  EXPECT_EQ(t.messages[2].bytes, 2048u);
  EXPECT_TRUE(t.messages[0].read);
  EXPECT_EQ(t.messages[0].source, Conversation::net(false, 0).src);
  EXPECT_EQ(t.messages[0].start, Conversation::time_of(0));
  EXPECT_EQ(t.messages[0].completed, Conversation::time_of(6));
  EXPECT_EQ(t.messages[1].start, Conversation::time_of(7));
  EXPECT_TRUE(t.messages[1].completed.is_never());
}

TEST(TraceMessages, DamagedCapturesAreSaid) {
  Conversation c;
  c.a(Conversation::request(op::kRcSendOnly, 0x12, 1));
  const TraceFlows flows = c.scan();
  std::vector<uint8_t> damaged = c.bytes();
  for (size_t i = 24; i < 40; ++i) damaged[i] = 0xff;  // the header of the record
  EXPECT_FALSE(read_messages(*CaptureReader::from_bytes(damaged, "damaged"), flows).ok());
}

}  // namespace
}  // namespace matchrdma
