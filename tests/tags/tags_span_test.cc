// What the span does to packets and messages, and whose packets they are (PROTOCOL 1, 2, 6).
#include <gtest/gtest.h>

#include "dataplane/wire/icrc.h"
#include "tests/tags/pair_rig.h"

namespace matchrdma::tags {
namespace {

TEST(Tags, C12_PauseIsNeverForwarded) {
  PairRig rig;
  std::vector<uint8_t> frame(64, 0);
  frame[12] = 0x88, frame[13] = 0x08;
  std::vector<uint8_t> tagged(64, 0);
  tagged[12] = 0x81, tagged[16] = 0x88, tagged[17] = 0x08;
  for (const Side side : {Side::kLan, Side::kWan}) {
    rig.raw(rig.a, side, frame);
    rig.raw(rig.a, side, tagged);
  }
  EXPECT_TRUE(rig.a.lan.empty());
  EXPECT_TRUE(rig.a.wan.empty());
  EXPECT_EQ(rig.a.shard.counters().reasons[Reason::kPause], 4u);
  frame[13] = 0x09;
  rig.raw(rig.a, Side::kLan, frame);
  EXPECT_EQ(rig.a.wan.size(), 1u);
}

TEST(Tags, H1_MarksTravelWithThePackets) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.wait(Duration::micros(60));
  ASSERT_TRUE(newest<SentMark>(rig.a.wan).has_value());
  for (const Left& l : rig.a.wan) {
    if (l.packet) continue;
    EXPECT_EQ(l.priority, !std::holds_alternative<SentMark>(l.message));
  }
  EXPECT_TRUE(in_data_queue(CloseMarker{}));
  EXPECT_FALSE(in_data_queue(CustodyAck{}));
}

TEST(Tags, H2_HoleIsResentOnlyOnAMarkNewerThanTheSend) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.wait(Duration::micros(60));
  const auto mark = newest<SentMark>(rig.a.wan);  // older than what follows
  ASSERT_TRUE(mark.has_value());
  rig.from_a(write_only(101));
  rig.from_a(write_only(102));
  lose(rig.a.wan, 101);
  rig.carry_ab();
  rig.wait(Duration::micros(150));
  ASSERT_TRUE(newest<CustodyAck>(rig.b.wan).has_value());
  EXPECT_EQ(newest<CustodyAck>(rig.b.wan)->ranges, 1);
  EXPECT_EQ(newest<CustodyAck>(rig.b.wan)->mark_echo, mark->seq);
  rig.carry_ba();
  EXPECT_TRUE(psns(rig.a.wan).empty());
  rig.carry_ab();  // the mark of 102
  rig.wait(Duration::micros(150));
  rig.carry_ba();
  EXPECT_EQ(psns(rig.a.wan, Cause::kCustodyResend), (Psns{101}));
  EXPECT_EQ(psns(rig.b.lan), (Psns{100}));  // in order: 102 waits
  rig.carry_ab();
  EXPECT_EQ(psns(rig.b.lan), (Psns{100, 101, 102}));
}

TEST(Tags, H2_LastPacketIsFoundByItsMark) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  lose(rig.a.wan, 100);
  rig.run(Duration::millis(1));
  EXPECT_EQ(psns(rig.b.lan), (Psns{100}));
}

// A sender at line rate leaves no gap of reorder_window; waiting for one proved no loss for as long as it sent.
TEST(Tags, H2_HolesAreRepairedWhileTheSenderNeverPauses) {
  PairRig rig;
  rig.connect();
  uint32_t psn = 100;
  const auto send_for = [&](Duration d) {
    for (Duration t{}; t < d; t = t + Duration::micros(10)) {
      rig.from_a(write_only(psn));
      if (psn == 110) lose(rig.a.wan, psn);
      ++psn;
      rig.run(Duration::micros(10));
    }
  };
  send_for(Duration::millis(5));
  EXPECT_EQ(rig.a.shard.counters().custody_resends, 1u);
  EXPECT_GT(psns(rig.b.lan).size(), 300u) << "what came behind the hole";
}

// More holes than one report holds: the next goes on, so all are filled after one round trip.
TEST(Tags, H2_ManyHolesAreFilledAtOnce) {
  PairRig rig;
  rig.connect();
  constexpr uint32_t kHoles = 100;
  for (uint32_t psn = 100; psn <= 100 + 2 * kHoles; ++psn) rig.from_a(write_only(psn));
  for (uint32_t i = 0; i < kHoles; ++i) lose(rig.a.wan, 101 + 2 * i);
  rig.carry_ab();
  rig.wait(Duration::micros(60));
  rig.carry_ab();  // the mark
  for (int report = 0; report < 8; ++report) rig.wait(Duration::micros(110));
  rig.carry_ba();
  rig.wait(Duration::micros(10));
  EXPECT_EQ(psns(rig.a.wan, Cause::kCustodyResend).size(), kHoles);
  rig.carry_ab();
  EXPECT_EQ(psns(rig.b.lan).size(), 1 + 2 * kHoles);
}

TEST(Tags, H6_RawNakInCustodyResendsAndNeverPasses) {
  PairRig rig;
  rig.connect();
  for (uint32_t psn = 100; psn < 103; ++psn) rig.from_a(write_only(psn));
  rig.a.lan.clear();
  rig.a.wan.clear();
  rig.to_a_wan(answer(101, 1, kNakSequence));
  EXPECT_EQ(psns(rig.a.wan, Cause::kCustodyResend), (Psns{101, 102}));
  EXPECT_TRUE(naks(rig.a.lan).empty());
  EXPECT_EQ(rig.a.shard.owned_packets(), 2u);  // it acknowledged 100
}

TEST(Tags, H6_RawAckConfirmsAndNeverPasses) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.a.lan.clear();
  rig.to_a_wan(answer(100, 1));
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  EXPECT_TRUE(psns(rig.a.lan, Cause::kPassedAck).empty());
}

TEST(Tags, H16_SameQpnInAnotherVlanIsAnotherFlow) {
  PairRig rig;
  rig.connect();
  Ends other;
  other.vlan = 20;
  rig.from_a(write_only(100), other);
  EXPECT_EQ(psns(rig.a.wan, Cause::kForward), (Psns{100}));
  EXPECT_TRUE(rig.a.lan.empty());
  EXPECT_EQ(rig.a.shard.owned_packets(), 0u);
  rig.connect(other);
  rig.from_a(write_only(100), other);
  EXPECT_EQ(psns(rig.a.wan, Cause::kFirst), (Psns{100}));
  ASSERT_EQ(rig.a.lan.size(), 1u);
  EXPECT_EQ(rig.a.lan[0].frame().vlan_id(0), 20);
}

TEST(Tags, H17_WrongIcrcFromTheSpanIsDroppedAndRepaired) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  const Bytes sent = rig.a.wan[0].packet->bytes();
  std::vector<uint8_t> broken(sent.begin(), sent.end());
  broken[rig.a.wan[0].frame().payload_offset()] ^= 1;
  lose(rig.a.wan, 100);
  rig.raw(rig.b, Side::kWan, broken);
  EXPECT_TRUE(rig.b.lan.empty());
  EXPECT_EQ(rig.b.shard.counters().reasons[Reason::kIcrcWan], 1u);
  rig.run(Duration::millis(1));
  ASSERT_EQ(psns(rig.b.lan), (Psns{100}));
  EXPECT_TRUE(icrc_ok(rig.b.lan[0].frame()));
}

TEST(Tags, H17_WrongIcrcFromTheLanIsForwardedNeverOwned) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  const Bytes sent = rig.a.wan[0].packet->bytes();
  std::vector<uint8_t> broken(sent.begin(), sent.end());
  broken[rig.a.wan[0].frame().bth_offset() + 11] = 101;  // its PSN
  rig.raw(rig.a, Side::kLan, broken);
  EXPECT_EQ(rig.a.shard.owned_packets(), 1u);
  EXPECT_EQ(acks(rig.a.lan), (Psns{100}));
  EXPECT_EQ(psns(rig.a.wan), (Psns{100, 101}));
}

TEST(Tags, H2_EchoOfAMarkThatWasNeverSentProvesNothing) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.from_a(write_only(101));
  rig.from_a(write_only(102));
  lose(rig.a.wan, 101);
  rig.carry_ab();
  rig.wait(Duration::micros(150));
  ASSERT_TRUE(newest<CustodyAck>(rig.b.wan).has_value());
  CustodyAck report = *newest<CustodyAck>(rig.b.wan);
  ASSERT_EQ(report.ranges, 1);
  rig.a.wan.clear();
  report.mark_echo = uint64_t{1} << 62;
  rig.say(rig.a, report);
  EXPECT_TRUE(psns(rig.a.wan, Cause::kCustodyResend).empty());
}

// PROTOCOL 4: the source's ACKs look like the receiver's. How they look stands in every report until the source
// has seen one of them.
TEST(Tags, FormOfTheReceiversAcksIsToldUntilItIsKnown) {
  PairRig rig;
  rig.connect();
  const auto confirm_through = [&](uint32_t psn, uint16_t port) {
    Ends e;
    e.port = port;
    rig.from_a(write_only(psn));
    rig.carry_ab();
    rig.from_b(answer(psn, psn - 99), e);
    rig.wait(Duration::millis(1));
    return newest<CustodyAck>(rig.b.wan);
  };
  auto report = confirm_through(100, 0xc001);
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->form.known);
  lose_messages(rig.b.wan);
  rig.wait(Duration::millis(50));
  report = newest<CustodyAck>(rig.b.wan);
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->form.known);  // nobody has heard of it yet
  rig.run(Duration::millis(5));
  report = confirm_through(101, 0xc001);
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->form.known);
  rig.run(Duration::millis(5));
  report = confirm_through(102, 0xc055);  // another one
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->form.known);
  rig.run(Duration::millis(5));
  rig.a.lan.clear();
  rig.from_a(write_only(103));
  ASSERT_EQ(acks(rig.a.lan), (Psns{103}));
  EXPECT_EQ(rig.a.lan.back().frame().udp_source_port(), 0xc055);
}

// An overtaken report may tell an older form, and does not bring it back.
TEST(Tags, FormOfAnOlderReportIsNotTaken) {
  PairRig rig;
  rig.connect();
  rig.from_a(write_only(100));
  rig.carry_ab();
  rig.from_b(answer(100, 1));
  rig.wait(Duration::millis(1));
  ASSERT_TRUE(newest<CustodyAck>(rig.b.wan).has_value());
  CustodyAck newer = *newest<CustodyAck>(rig.b.wan);
  CustodyAck older = newer;
  newer.seq = 9;
  newer.form.net.udp_source_port = 0xc099;
  older.seq = 8;
  rig.say(rig.a, newer);
  rig.say(rig.a, older);
  rig.a.lan.clear();
  rig.from_a(write_only(101));
  ASSERT_EQ(acks(rig.a.lan), (Psns{101}));
  EXPECT_EQ(rig.a.lan.back().frame().udp_source_port(), 0xc099);
}

}  // namespace
}  // namespace matchrdma::tags
