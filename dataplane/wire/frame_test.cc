#include "dataplane/wire/frame.h"

#include <gtest/gtest.h>

#include <string>

#include "dataplane/wire/icrc.h"
#include "dataplane/wire/test_frames.h"

namespace matchrdma {
namespace {

using test::connectx_cnp;
using test::ExactBuffer;
using test::insert_into_ip;
using test::write_only;
using Buffer = std::vector<uint8_t>;

ParseResult parse_exact(const Buffer& b) { return parse_frame(ExactBuffer(b).bytes()); }

void expect_verdict(const Buffer& b, ParseKind kind, Reason reason, const std::string& what = "") {
  const ParseResult r = parse_exact(b);
  EXPECT_EQ(r.kind, kind) << what;
  EXPECT_EQ(r.reason, reason) << what << ": " << reason_text(r.reason);
}

TEST(Frame, ConnectX4Cnp) {
  const Buffer b = connectx_cnp();
  const ParseResult r = parse_frame(b);
  ASSERT_EQ(r.kind, ParseKind::kRoce);
  EXPECT_EQ(r.reason, Reason::kNone);
  const Frame& f = r.frame;
  EXPECT_EQ(f.opcode(), op::kCnp);
  EXPECT_TRUE(f.becn());
  EXPECT_FALSE(f.fecn());
  EXPECT_FALSE(f.ack_req());
  EXPECT_FALSE(f.mig_req());
  EXPECT_EQ(f.pkey(), 0xffff);
  EXPECT_EQ(f.dest_qp(), Qpn{0x118});
  EXPECT_EQ(f.psn(), Psn{0});
  EXPECT_EQ(f.traffic_class(), 0xc2);
  EXPECT_EQ(f.ecn(), 2);
  EXPECT_EQ(f.hop_limit(), 64);
  EXPECT_EQ(f.udp_source_port(), 0);
  EXPECT_EQ(f.payload_length(), 16u);
  EXPECT_TRUE(f.is_v4());
}

TEST(Frame, VlanTags) {
  for (int tags : {0, 1, 2}) {
    const Buffer b = write_only(true, tags);
    const ParseResult r = parse_frame(b);
    ASSERT_EQ(r.kind, ParseKind::kRoce);
    EXPECT_EQ(r.frame.vlan_tags(), tags);
    EXPECT_EQ(r.frame.vlan_id(0), tags > 0 ? 100 : 0);
    EXPECT_EQ(r.frame.vlan_id(1), tags > 1 ? 200 : 0);
    EXPECT_EQ(ether_type(b), 0x0800);
  }
  Buffer old_outer = write_only(true, 2);
  store_be16(old_outer.data() + 12, 0x9100);
  expect_verdict(old_outer, ParseKind::kRoce, Reason::kNone);
  Buffer three = write_only(true, 2);
  three.insert(three.begin() + 12, {0x81, 0x00, 0x00, 0x01});
  expect_verdict(three, ParseKind::kNotRoce, Reason::kTooManyVlanTags);
  EXPECT_EQ(ether_type(three), 0x0800);
}

TEST(Frame, EtherTypeOfShortAndForeignFrames) {
  Buffer b(14, 0);
  store_be16(b.data() + 12, 0x8808);
  EXPECT_EQ(ether_type(b), 0x8808);
  expect_verdict(b, ParseKind::kNotRoce, Reason::kNotIp);
  b.resize(13);
  EXPECT_EQ(ether_type(b), 0);
  EXPECT_EQ(ether_type({}), 0);
  Buffer tag_only(14, 0);
  store_be16(tag_only.data() + 12, 0x8100);
  EXPECT_EQ(ether_type(tag_only), 0);
}

TEST(Frame, Ipv4Options) {
  for (uint8_t words = 1; words <= 10; ++words) {
    Buffer b = insert_into_ip(write_only(true), 34, Buffer(words * 4u, 1));
    b[14] = static_cast<uint8_t>(0x45 + words);
    const ParseResult r = parse_frame(b);
    ASSERT_EQ(r.kind, ParseKind::kRoce);
    EXPECT_EQ(r.frame.udp_offset(), 34u + words * 4u);
    EXPECT_EQ(r.frame.reth_rkey(), 0xa1a2a3a4u);
  }
}

TEST(Frame, Ipv6ExtensionHeaders) {
  // Hop-by-hop, routing, destination options and an atomic fragment, 8 bytes each (RFC 8200 4).
  const Buffer chain = {43, 0, 1, 4, 0, 0, 0, 0, 60, 0, 0, 0, 0, 0, 0, 0,
                        44, 0, 1, 4, 0, 0, 0, 0, 17, 0, 0, 0, 1, 2, 3, 4};
  Buffer b = insert_into_ip(write_only(false), 54, chain);
  b[20] = 0;
  const ParseResult r = parse_frame(b);
  ASSERT_EQ(r.kind, ParseKind::kRoce) << reason_text(r.reason);
  EXPECT_EQ(r.frame.udp_offset(), 54u + chain.size());
  EXPECT_EQ(r.frame.reth_va(), 0x1122334455667788u);
  b[20] = 51;  // authentication header: not followed
  expect_verdict(b, ParseKind::kNotRoce, Reason::kNotUdp);
}

TEST(Frame, Ipv6ExtensionLimitFromBothSides) {
  for (uint32_t n : {kMaxIpv6ExtBytes, kMaxIpv6ExtBytes + 8}) {
    Buffer options(n, 0);
    options[0] = 17;
    options[1] = static_cast<uint8_t>(n / 8 - 1);
    Buffer b = insert_into_ip(write_only(false), 54, options);
    b[20] = 60;
    const bool fits = n == kMaxIpv6ExtBytes;
    expect_verdict(b, fits ? ParseKind::kRoce : ParseKind::kMalformed,
                   fits ? Reason::kNone : Reason::kIpHeader);
  }
}

TEST(Frame, Ipv6ExtensionBehindTheIpLength) {
  Buffer b = insert_into_ip(write_only(false), 54, {17, 0, 1, 4, 0, 0, 0, 0});
  b[20] = 60;
  store_be16(b.data() + 18, 7);  // ends inside the extension header
  b.resize(54 + 7);
  expect_verdict(b, ParseKind::kMalformed, Reason::kIpLength);
}

TEST(Frame, Fragments) {
  for (uint16_t field : std::initializer_list<uint16_t>{0x2000, 0x0001, 0x1fff, 0x6000}) {
    Buffer b = write_only(true);
    store_be16(b.data() + 20, field);
    expect_verdict(b, ParseKind::kNotRoce, Reason::kFragment);
  }
  for (uint16_t field : std::initializer_list<uint16_t>{0x0001, 0x0008, 0xfff8}) {
    Buffer b = insert_into_ip(write_only(false), 54, {17, 0, 0, 0, 0, 0, 0, 0});
    b[20] = 44;
    store_be16(b.data() + 56, field);
    expect_verdict(b, ParseKind::kNotRoce, Reason::kFragment);
  }
}

// Every frame shape, cut at every length: never RoCE, never a read behind the end (ASan watches).
TEST(Frame, EveryTruncationIsRefused) {
  Buffer with_chain = insert_into_ip(write_only(false), 54, {60, 0, 1, 4, 0, 0, 0, 0, 17, 0, 1, 4, 0, 0, 0, 0});
  with_chain[20] = 0;
  Buffer with_options = insert_into_ip(write_only(true), 34, Buffer(12, 1));
  with_options[14] = 0x48;
  std::vector<Buffer> frames = {with_chain, with_options, connectx_cnp()};
  for (bool v4 : {true, false}) {
    for (int tags : {0, 1, 2}) frames.push_back(write_only(v4, tags));
  }
  for (const Buffer& whole : frames) {
    ASSERT_EQ(parse_frame(whole).kind, ParseKind::kRoce);
    for (size_t n = 0; n < whole.size(); ++n) {
      const ExactBuffer cut{Bytes(whole).first(n)};
      const ParseResult r = parse_frame(cut.bytes());
      EXPECT_EQ(r.kind, ParseKind::kMalformed) << n;
      EXPECT_EQ(r.reason, Reason::kTruncated) << n;
      EXPECT_EQ(r.frame.data(), nullptr);
      ether_type(cut.bytes());
    }
  }
}

TEST(Frame, PaddingBehindTheIpLength) {
  Buffer b = test::build(test::endpoints(true, 0), test::spec_of(op::kRcAck, {}));
  const size_t end = b.size();
  b.resize(end + 10, 0xee);
  const ParseResult r = parse_frame(b);
  ASSERT_EQ(r.kind, ParseKind::kRoce);
  EXPECT_EQ(r.frame.icrc_offset(), end - 4);
  EXPECT_EQ(r.frame.bytes().size(), b.size());
  EXPECT_TRUE(r.frame.payload().empty());
  EXPECT_TRUE(icrc_ok(r.frame));
}

TEST(Frame, PadCount) {
  const uint8_t data[4] = {1, 2, 3, 4};
  for (size_t n = 0; n <= 4; ++n) {
    Buffer b = test::build(test::endpoints(true, 0), test::spec_of(op::kRcSendOnly, Bytes(data, n)));
    const Frame f = parse_frame(b).frame;
    EXPECT_EQ(f.payload_length(), n);
    EXPECT_EQ(f.payload().size(), n == 0 ? 0u : 4u);
  }
  Buffer empty = test::build(test::endpoints(true, 0), test::spec_of(op::kRcSendOnly, {}));
  for (uint8_t pad : Buffer{1, 2, 3}) {
    empty[14 + 20 + 8 + 1] = static_cast<uint8_t>(pad << 4);
    expect_verdict(empty, ParseKind::kMalformed, Reason::kPadCount);
  }
}

TEST(Frame, LengthsThatDisagree) {
  for (int delta : {-5, -1, 1, 4}) {
    for (bool v4 : {true, false}) {
      Buffer b = write_only(v4);
      uint8_t* length = b.data() + 14 + (v4 ? 20 : 40) + 4;
      store_be16(length, static_cast<uint16_t>(load_be16(length) + delta));
      expect_verdict(b, ParseKind::kMalformed, Reason::kUdpLength);
    }
  }
  Buffer long_ip = write_only(true);
  store_be16(long_ip.data() + 16, static_cast<uint16_t>(load_be16(long_ip.data() + 16) + 1));
  store_be16(long_ip.data() + 38, static_cast<uint16_t>(load_be16(long_ip.data() + 38) + 1));
  expect_verdict(long_ip, ParseKind::kMalformed, Reason::kTruncated);
  for (bool v4 : {true, false}) {
    Buffer b = write_only(v4);
    store_be16(b.data() + (v4 ? 16 : 18), v4 ? 27 : 7);
    expect_verdict(b, ParseKind::kMalformed, Reason::kIpLength);
  }
}

TEST(Frame, NoRoomForTheHeadersOfTheOpcode) {
  for (int code = 0; code < 256; ++code) {
    const auto opcode = static_cast<uint8_t>(code);
    if (opcode_info(opcode).ext_len == 0) continue;
    for (uint8_t missing : Buffer{1, 4}) {
      Buffer b = test::build(test::endpoints(true, 0), test::spec_of(opcode, {}));
      b.erase(b.end() - missing, b.end());
      store_be16(b.data() + 16, static_cast<uint16_t>(load_be16(b.data() + 16) - missing));
      store_be16(b.data() + 38, static_cast<uint16_t>(load_be16(b.data() + 38) - missing));
      expect_verdict(b, ParseKind::kMalformed, Reason::kShortBth, opcode_name(opcode));
    }
  }
  Buffer tiny = write_only(true);
  store_be16(tiny.data() + 16, 20 + 23);
  store_be16(tiny.data() + 38, 23);
  expect_verdict(tiny, ParseKind::kMalformed, Reason::kShortBth);
}

TEST(Frame, ForeignPackets) {
  for (bool v4 : {true, false}) {
    Buffer tcp = write_only(v4);
    tcp[v4 ? 23 : 20] = 6;
    expect_verdict(tcp, ParseKind::kNotRoce, Reason::kNotUdp);
    tcp.resize(60);  // cut, and still foreign
    expect_verdict(tcp, ParseKind::kNotRoce, Reason::kNotUdp);
    tcp.resize(14 + (v4 ? 19 : 39));  // cut inside the IP header
    expect_verdict(tcp, ParseKind::kMalformed, Reason::kTruncated);
    Buffer dns = write_only(v4);
    store_be16(dns.data() + 14 + (v4 ? 20 : 40) + 2, 53);
    expect_verdict(dns, ParseKind::kNotRoce, Reason::kNotRocePort);
  }
  Buffer arp(60, 0);
  store_be16(arp.data() + 12, 0x0806);
  expect_verdict(arp, ParseKind::kNotRoce, Reason::kNotIp);
}

TEST(Frame, BadIpHeaders) {
  for (uint8_t first : Buffer{0x44, 0x40, 0x65, 0x05}) {
    Buffer b = write_only(true);
    b[14] = first;
    expect_verdict(b, ParseKind::kMalformed, Reason::kIpHeader);
  }
  Buffer b = write_only(false);
  b[14] = 0x45;
  expect_verdict(b, ParseKind::kMalformed, Reason::kIpHeader);
}

// RFC 6890 table 20: a mapped address in an IPv6 header would share its flow key with an IPv4 flow.
TEST(Frame, MappedAddressInIpv6IsRefused) {
  const IpAddress mapped = test::endpoints(true, 0).src;
  for (size_t at : {14 + 8, 14 + 24}) {
    Buffer b = write_only(false);
    std::copy(mapped.b.begin(), mapped.b.end(), b.begin() + static_cast<std::ptrdiff_t>(at));
    expect_verdict(b, ParseKind::kMalformed, Reason::kIpHeader);
  }
}

TEST(Frame, SoundBthThatWeDoNotActOn) {
  for (int code = 0; code < 256; ++code) {
    Buffer b = write_only(true);
    b[42] = static_cast<uint8_t>(code);
    const OpcodeInfo& o = opcode_info(b[42]);
    if (o.known) continue;
    const bool reserved = o.transport == Transport::kRc || o.transport == Transport::kUc ||
                          o.transport == Transport::kUd || o.transport == Transport::kCnp;
    const ParseResult r = parse_frame(b);
    EXPECT_EQ(r.kind, ParseKind::kRoce);
    EXPECT_EQ(r.reason, reserved ? Reason::kUnknownOpcode : Reason::kUnknownTransport) << code;
    EXPECT_EQ(r.frame.payload_offset(), r.frame.ext_offset());
    EXPECT_EQ(r.frame.psn(), Psn{0xfffffe});
  }
  Buffer b = write_only(true);
  b[43] |= 1;
  const ParseResult r = parse_frame(b);
  EXPECT_EQ(r.kind, ParseKind::kRoce);
  EXPECT_EQ(r.reason, Reason::kTransportVersion);
  EXPECT_EQ(r.frame.payload_offset(), r.frame.ext_offset());
  EXPECT_FALSE(r.frame.info().reth);
}

}  // namespace
}  // namespace matchrdma
