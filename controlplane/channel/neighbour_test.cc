// Being found, and finding the next hop. The hex frames are those of two Linux hosts (captured by tshark).
#include "controlplane/channel/neighbour.h"

#include <gtest/gtest.h>

#include "dataplane/base/prng.h"
#include "dataplane/wire/test_frames.h"

namespace matchrdma {
namespace {

using Buffer = std::vector<uint8_t>;
using Verdict = Neighbour::Verdict;
using test::ExactBuffer;
using test::from_hex;

constexpr Mac kMacA{2, 0, 0, 0, 0, 0xa}, kMacB{2, 0, 0, 0, 0, 0xb}, kMacC{2, 0, 0, 0, 0, 0xc};

const Buffer kArpAsk =
    from_hex("ffffffffffff 02000000000a 0806 0001080006040001 02000000000a c0000201 000000000000 c0000202");
const Buffer kArpTell =
    from_hex("02000000000a 02000000000b 0806 0001080006040002 02000000000b c0000202 02000000000a c0000201");
const Buffer kNdAsk = from_hex(
    "3333ff000002 02000000000a 86dd 6000000000203aff 20010db8000000000000000000000001"
    "ff0200000000000000000001ff000002 87001c1e00000000 20010db8000000000000000000000002 010102000000000a");
const Buffer kNdTell = from_hex(
    "02000000000a 02000000000b 86dd 6000000000203aff 20010db8000000000000000000000002"
    "20010db8000000000000000000000001 88008a6860000000 20010db8000000000000000000000002 020102000000000b");

IpAddress address(bool v4, uint8_t last) {
  const uint8_t four[4] = {192, 0, 2, last};
  if (v4) return IpAddress::v4(four);
  return IpAddress{{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last}};
}
Buffer padded(Buffer b) {
  b.resize(std::max<size_t>(b.size(), 60));
  return b;
}
Buffer tagged(const Buffer& b, uint16_t tci) {
  Buffer t(b.size() + 4);
  std::copy_n(b.begin(), 12, t.begin());
  store_be16(t.data() + 12, 0x8100);
  store_be16(t.data() + 14, tci);
  std::copy(b.begin() + 12, b.end(), t.begin() + 16);
  return t;
}
Buffer of(const NeighbourFrame& f) { return {f.b.begin(), f.b.begin() + f.size}; }
Instant at(int64_t seconds) { return Instant{} + Duration::seconds(seconds); }

/// A is .1 with MAC a, B is .2 with MAC b, each the other's peer.
NeighbourConfig config_of(bool v4, bool is_a, std::optional<uint16_t> vlan = {}) {
  NeighbourConfig c;
  c.self = {is_a ? kMacA : kMacB, address(v4, is_a ? 1 : 2), vlan};
  c.prefix_bits = v4 ? 30 : 64;
  c.peer = address(v4, is_a ? 2 : 1);
  return c;
}

struct Heard {
  Verdict verdict;
  Buffer reply;
};
Heard heard(Neighbour& n, const Buffer& frame, Instant now = at(0)) {
  NeighbourFrame reply;
  const ExactBuffer exact(frame);
  const Verdict v = n.take(exact.bytes(), now, reply);
  return {v, of(reply)};
}
std::vector<Buffer> all_due(Neighbour& n, Instant now) {
  std::vector<Buffer> out;
  NeighbourFrame f;
  while (n.due(now, f)) out.push_back(of(f));
  return out;
}
/// The MAC that the path leads to; empty without a path.
std::optional<Mac> mac_of(const Neighbour& n) {
  const auto p = n.path();
  return p ? std::optional<Mac>(p->net.mac_dst) : std::nullopt;
}
/// Mends the checksum of an untagged ND message, so that only the field under test is wrong.
Buffer with_checksum(Buffer b) {
  store_be16(b.data() + 56, 0);
  uint32_t sum = sum16(58 + static_cast<uint32_t>(b.size() - 54), b.data() + 22, 32);
  sum = sum16(sum, b.data() + 54, b.size() - 54);
  store_be16(b.data() + 56, static_cast<uint16_t>(~fold_checksum(sum)));
  return b;
}

TEST(Neighbour, SaysByteForByteWhatLinuxSays) {
  for (const bool v4 : {true, false}) {
    for (const bool tag : {false, true}) {
      const auto frame = [&](const Buffer& b) { return padded(tag ? tagged(b, 7 << 13 | 300) : b); };
      const std::optional<uint16_t> vlan = tag ? std::optional<uint16_t>(300) : std::nullopt;
      Neighbour a(config_of(v4, true, vlan)), b(config_of(v4, false, vlan));
      const auto first = all_due(a, at(0));
      ASSERT_EQ(first.size(), 2u);  // the announcement, then the question
      EXPECT_EQ(first[1], frame(v4 ? kArpAsk : kNdAsk));
      const Heard question = heard(b, first[1]);
      EXPECT_EQ(question.verdict, Verdict::kConsumed);
      EXPECT_EQ(question.reply, frame(v4 ? kArpTell : kNdTell));
      EXPECT_EQ(mac_of(b), kMacA);  // learned from the question
      EXPECT_EQ(mac_of(a), std::nullopt);
      EXPECT_EQ(heard(a, question.reply).verdict, Verdict::kConsumed);
      EXPECT_EQ(mac_of(a), kMacB);
    }
  }
}

TEST(Neighbour, AnnouncesItselfOnceAndIsLearnedByThat) {
  const Buffer arp = padded(
      from_hex("ffffffffffff 02000000000a 0806 0001080006040001 02000000000a c0000201 000000000000 c0000201"));
  const Buffer nd = with_checksum(from_hex(
      "333300000001 02000000000a 86dd 6000000000203aff 20010db8000000000000000000000001"
      "ff020000000000000000000000000001 8800000020000000 20010db8000000000000000000000001 020102000000000a"));
  for (const bool v4 : {true, false}) {
    Neighbour a(config_of(v4, true)), b(config_of(v4, false));
    EXPECT_EQ(a.next_wakeup(), Instant{});
    EXPECT_EQ(all_due(a, at(5))[0], v4 ? arp : nd);
    EXPECT_EQ(heard(b, v4 ? arp : nd).verdict, Verdict::kConsumed);
    EXPECT_EQ(mac_of(b), kMacA);
    for (int64_t s = 5; s < 200; ++s)
      for (const Buffer& f : all_due(a, at(s))) EXPECT_NE(f, v4 ? arp : nd);
  }
}

TEST(Neighbour, ThePathIsThatOfItsDatagrams) {
  Neighbour a(config_of(false, true, 300));
  EXPECT_FALSE(a.path());
  EXPECT_EQ(recognise_control(a.addresses(), {}).kind, ControlVerdict::Kind::kForeign);
  heard(a, tagged(kNdTell, 300));
  const ControlPath path = *a.path();
  Buffer frame(control_packet_size(path, 8));
  build_control_packet(path, Buffer(8, 1), frame);
  EXPECT_EQ(Buffer(frame.begin(), frame.begin() + 16),
            from_hex("02000000000b 02000000000a 8100 e12c"));  // PCP 7, VLAN 300
  Neighbour b(config_of(false, false, 300));
  EXPECT_EQ(recognise_control(b.addresses(), frame).kind, ControlVerdict::Kind::kOurs);
}

TEST(Neighbour, AsksAgainEverLessOftenUntilAnswered) {
  for (const bool v4 : {true, false}) {
    Neighbour a(config_of(v4, true));
    std::vector<int64_t> asked;
    for (int64_t ms = 0; ms <= 46'000; ms += 100) {
      const Instant now = Instant{} + Duration::millis(ms);
      const auto out = all_due(a, now);
      if (!out.empty()) asked.push_back(ms);
      if (!out.empty() && ms > 0) {
        EXPECT_EQ(out, std::vector<Buffer>{padded(v4 ? kArpAsk : kNdAsk)});
      }
      EXPECT_GT(a.next_wakeup(), now);
      EXPECT_LE(a.next_wakeup(), now + Duration::seconds(10));
    }
    EXPECT_EQ(asked, (std::vector<int64_t>{0, 1000, 3000, 7000, 15'000, 25'000, 35'000, 45'000}));
    EXPECT_EQ(a.counters().asked, 8u);
  }
}

TEST(Neighbour, RefreshesWithoutForgetting) {
  for (const bool v4 : {true, false}) {
    Neighbour a(config_of(v4, true));
    all_due(a, at(0));
    heard(a, v4 ? kArpTell : kNdTell, at(0));
    EXPECT_EQ(a.next_wakeup(), at(60));
    EXPECT_TRUE(all_due(a, at(59)).empty());
    const auto first = all_due(a, at(60)), second = all_due(a, at(61));
    ASSERT_EQ(first.size(), 1u);
    EXPECT_EQ(Mac({first[0][0], first[0][1], first[0][2], first[0][3], first[0][4], first[0][5]}), kMacB);
    EXPECT_EQ(second, std::vector<Buffer>{padded(v4 ? kArpAsk : kNdAsk)});  // B was silent: everybody is asked
    for (int64_t s = 62; s < 4000; ++s) all_due(a, at(s));
    EXPECT_EQ(mac_of(a), kMacB);
    heard(a, v4 ? kArpTell : kNdTell, at(4000));
    EXPECT_EQ(a.next_wakeup(), at(4060));
  }
}

TEST(Neighbour, WhatIsAboutOthersPasses) {
  // Of a host C: asks for D, answers D, announces itself.
  const std::vector<Buffer> arp{
      from_hex("ffffffffffff 02000000000c 0806 0001080006040001 02000000000c c0000203 000000000000 c0000204"),
      from_hex("02000000000d 02000000000c 0806 0001080006040002 02000000000c c0000203 02000000000d c0000204"),
      from_hex("ffffffffffff 02000000000c 0806 0001080006040001 02000000000c c0000203 000000000000 c0000203"),
      // The peer itself speaks to others.
      from_hex("ffffffffffff 02000000000a 0806 0001080006040001 02000000000a c0000201 000000000000 c0000204"),
      from_hex("02000000000d 02000000000a 0806 0001080006040002 02000000000a c0000201 02000000000d c0000204"),
      // Not ARP for IPv4 over Ethernet, not a question or an answer.
      from_hex("ffffffffffff 02000000000a 0806 0006080006040001 02000000000a c0000201 000000000000 c0000202"),
      from_hex("ffffffffffff 02000000000a 0806 0001080006040003 02000000000a c0000201 000000000000 c0000202"),
      kNdAsk, tagged(kArpAsk, 300), test::connectx_cnp(), Buffer{}, Buffer(13)};
  Neighbour b(config_of(true, false));
  for (const Buffer& f : arp) {
    const Heard h = heard(b, f);
    EXPECT_EQ(h.verdict, Verdict::kForeign);
    EXPECT_TRUE(h.reply.empty());
  }
  EXPECT_EQ(mac_of(b), std::nullopt);

  Buffer for_three = kNdAsk;
  for_three[5] = for_three[53] = for_three[77] = 3;
  Buffer echo = kNdAsk;
  echo[54] = 128;
  Neighbour b6(config_of(false, false));
  for (const Buffer& f :
       {with_checksum(for_three), with_checksum(echo), kNdTell, kArpAsk, tagged(kNdAsk, 300)}) {
    const Heard h = heard(b6, f);
    EXPECT_EQ(h.verdict, f == kNdTell ? Verdict::kConsumed : Verdict::kForeign);  // kNdTell: claims our address
    EXPECT_TRUE(h.reply.empty());
  }
  EXPECT_EQ(mac_of(b6), std::nullopt);
}

TEST(Neighbour, InAVlanOnlyThatVlanCounts) {
  Neighbour b(config_of(true, false, 300));
  for (const Buffer& f : {kArpAsk, tagged(kArpAsk, 301), tagged(tagged(kArpAsk, 300), 300), tagged(kArpAsk, 0)})
    EXPECT_EQ(heard(b, f).verdict, Verdict::kForeign);
  EXPECT_EQ(heard(b, tagged(kArpAsk, 5 << 13 | 300)).verdict, Verdict::kConsumed);
}

// RFC 4861 7.1.1: each is silently discarded; it named our address, so it does not reach the LAN either.
TEST(Neighbour, ABrokenSolicitationIsDropped) {
  const auto changed = [](size_t offset, uint8_t value) {
    Buffer b = kNdAsk;
    b[offset] = value;
    return with_checksum(b);
  };
  Buffer wrong_checksum = kNdAsk;
  wrong_checksum[57] ^= 1;
  Buffer nameless_with_option = kNdAsk;
  std::fill_n(nameless_with_option.begin() + 22, 16, uint8_t{0});
  Buffer cut = kNdAsk;
  cut.resize(80);
  const std::vector<Buffer> broken{changed(21, 254),   // not from this link
                                   wrong_checksum,     //
                                   changed(55, 1),     // code
                                   changed(79, 0),     // an option of no length
                                   changed(79, 2),     // an option longer than the message
                                   changed(80, 3),     // a group's link address
                                   changed(19, 23),    // too short
                                   changed(6, 3),      // a group as Ethernet source
                                   changed(22, 0xff),  // a group as IPv6 source
                                   with_checksum(nameless_with_option),
                                   cut};
  for (size_t i = 0; i < broken.size(); ++i) {
    Neighbour b(config_of(false, false));
    const Heard h = heard(b, broken[i]);
    EXPECT_EQ(h.verdict, Verdict::kConsumed) << i;
    EXPECT_TRUE(h.reply.empty()) << i;
    EXPECT_EQ(b.counters().broken, 1u) << i;
    EXPECT_EQ(mac_of(b), std::nullopt) << i;
  }
}

TEST(Neighbour, AHostWithoutAnAddressIsAnsweredToAll) {
  Buffer probe = kNdAsk;  // duplicate address detection (RFC 4862 5.4)
  std::fill_n(probe.begin() + 22, 16, uint8_t{0});
  probe.resize(78);
  probe[19] = 24;
  Neighbour b(config_of(false, false));
  const Heard h = heard(b, with_checksum(probe));
  EXPECT_EQ(h.verdict, Verdict::kConsumed);
  ASSERT_EQ(h.reply.size(), 86u);
  EXPECT_EQ(Buffer(h.reply.begin(), h.reply.begin() + 6), from_hex("333300000001"));
  EXPECT_EQ(h.reply[58], 0x20);  // override, not solicited
  Buffer arp_probe = kArpAsk;    // RFC 5227 2.1.1
  std::fill_n(arp_probe.begin() + 28, 4, uint8_t{0});
  Neighbour b4(config_of(true, false));
  const Heard h4 = heard(b4, arp_probe);
  EXPECT_EQ(Buffer(h4.reply.begin(), h4.reply.begin() + 6), from_hex("02000000000a"));
  EXPECT_EQ(mac_of(b4), std::nullopt);
}

// RFC 4861 7.2.5: what each flag of an advertisement allows.
TEST(Neighbour, AnAdvertisementWithoutOverrideReplacesNothing) {
  Buffer other = kNdTell;
  other[85] = 0xc;
  Buffer weak = other;
  weak[58] = 0x40;
  Buffer silent = kNdTell;  // no option: confirms what is known
  silent.resize(78);
  silent[19] = 24;
  Neighbour a(config_of(false, true));
  heard(a, with_checksum(silent));
  EXPECT_EQ(mac_of(a), std::nullopt);
  heard(a, kNdTell);
  heard(a, with_checksum(weak), at(1));
  EXPECT_EQ(mac_of(a), kMacB);
  EXPECT_EQ(a.counters().learned, 1u);
  all_due(a, at(1));
  heard(a, with_checksum(silent), at(5));
  EXPECT_EQ(a.next_wakeup(), at(65));
  heard(a, with_checksum(other), at(6));
  EXPECT_EQ(mac_of(a), kMacC);
  // To a group it may not be solicited (7.1.2).
  Buffer group = kNdTell;
  std::copy_n(from_hex("ff020000000000000000000000000001").begin(), 16, group.begin() + 38);
  EXPECT_EQ(heard(a, with_checksum(group), at(7)).verdict, Verdict::kConsumed);
  EXPECT_EQ(a.counters().broken, 1u);
  EXPECT_EQ(mac_of(a), kMacC);
}

TEST(Neighbour, BehindAGatewayTheGatewayIsAsked) {
  NeighbourConfig c = config_of(true, true);
  const uint8_t far[4] = {198, 51, 100, 1};
  c.peer = IpAddress::v4(far);
  c.gateway = address(true, 2);
  Neighbour a(c);
  EXPECT_EQ(a.next_hop(), address(true, 2));
  EXPECT_EQ(all_due(a, at(0))[1], padded(kArpAsk));
  // Its announcement is for the hosts too: learned and forwarded.
  const Buffer announcement =
      from_hex("ffffffffffff 02000000000b 0806 0001080006040002 02000000000b c0000202 ffffffffffff c0000202");
  EXPECT_EQ(heard(a, announcement).verdict, Verdict::kForeign);
  EXPECT_EQ(mac_of(a), kMacB);
  EXPECT_EQ(a.path()->net.dst, c.peer);
  c.peer = address(true, 2);
  c.gateway = address(true, 3);
  EXPECT_EQ(Neighbour(c).next_hop(), c.peer);  // on the link: no gateway
}

TEST(Neighbour, PrefixesOfEveryLength) {
  for (const bool v4 : {true, false}) {
    NeighbourConfig c = config_of(v4, true);  // 1 and 2 differ in the last two bits
    c.gateway = address(v4, 77);
    for (int bits = 0; bits <= (v4 ? 32 : 128); ++bits) {
      c.prefix_bits = static_cast<uint8_t>(bits);
      EXPECT_EQ(Neighbour(c).next_hop() == c.peer, bits <= (v4 ? 30 : 126)) << bits;
    }
  }
}

TEST(Neighbour, AConfiguredMacIsNeitherAskedForNorReplaced) {
  NeighbourConfig c = config_of(true, true);
  c.peer_mac = kMacC;
  Neighbour a(c);
  EXPECT_EQ(all_due(a, at(0)).size(), 1u);
  EXPECT_TRUE(a.next_wakeup().is_never());
  EXPECT_EQ(heard(a, kArpTell).verdict, Verdict::kConsumed);
  EXPECT_EQ(mac_of(a), kMacC);
  EXPECT_TRUE(all_due(a, at(1000)).empty());
}

TEST(Neighbour, AnotherOwnerOfOurAddressIsCountedAndOurOwnFramesAreNot) {
  Neighbour b(config_of(true, false));
  Buffer other = kArpTell;
  other[27] = other[11] = 0xc;
  EXPECT_EQ(heard(b, other).verdict, Verdict::kConsumed);
  EXPECT_EQ(b.counters().conflicts, 1u);
  EXPECT_EQ(heard(b, kArpTell).verdict, Verdict::kConsumed);  // came back to us
  Neighbour a(config_of(true, true));
  EXPECT_EQ(heard(a, kArpAsk).verdict, Verdict::kConsumed);
  EXPECT_EQ(a.counters().conflicts + a.counters().broken, 0u);
  Buffer asks = kArpAsk;  // somebody with our address asks for a host
  asks[27] = 0xc;
  EXPECT_EQ(heard(a, asks).verdict, Verdict::kForeign);
  EXPECT_EQ(a.counters().conflicts, 1u);
  // Our own MAC is never a next hop.
  Buffer mine = kArpTell;
  mine[27] = 0xa;
  heard(a, mine);
  EXPECT_EQ(mac_of(a), std::nullopt);
}

TEST(Neighbour, AFloodIsAnsweredAtABoundedRate) {
  Neighbour b(config_of(true, false));
  size_t answers = 0;
  for (int i = 0; i < 100'000; ++i) {
    const Heard h = heard(b, kArpAsk, Instant{} + Duration::micros(i * 10));  // one second
    EXPECT_EQ(h.verdict, Verdict::kConsumed);
    answers += h.reply.empty() ? 0 : 1;
  }
  EXPECT_GE(answers, 100u);
  EXPECT_LE(answers, 121u);
  EXPECT_EQ(b.counters().answered + b.counters().limited, 100'000u);
}

TEST(Neighbour, HostileFramesAreReadInBoundsAndTeachNothing) {
  Prng r(7);
  for (const bool v4 : {true, false}) {
    for (const Buffer& good : {v4 ? kArpAsk : kNdAsk, v4 ? kArpTell : kNdTell}) {
      const bool is_a = good == (v4 ? kArpTell : kNdTell);
      for (size_t size = 0; size < good.size(); ++size) {  // under AddressSanitizer
        Neighbour n(config_of(v4, is_a));
        heard(n, Buffer(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)));
        EXPECT_EQ(mac_of(n), std::nullopt);
      }
      for (int round = 0; round < 20'000; ++round) {
        Buffer b = good;
        for (uint64_t k = 1 + r.below(4); k > 0; --k) b[r.below(b.size())] = static_cast<uint8_t>(r.next());
        b.resize(r.below(b.size() + 40));
        Neighbour n(config_of(v4, is_a));
        heard(n, b);
        if (const auto mac = mac_of(n)) {
          EXPECT_EQ((*mac)[0] & 1, 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace matchrdma
