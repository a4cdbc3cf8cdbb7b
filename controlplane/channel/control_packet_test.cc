// The subchannel's frames: built right, known again, and nothing else is taken for one.
#include "controlplane/channel/control_packet.h"

#include <gtest/gtest.h>

#include "dataplane/base/prng.h"
#include "dataplane/wire/test_frames.h"

namespace matchrdma {
namespace {

using Buffer = std::vector<uint8_t>;
using Kind = ControlVerdict::Kind;
using test::ExactBuffer;

ControlPath path_of(bool v4, int tags) {
  ControlPath p;
  p.net = test::endpoints(v4, tags);
  return p;
}
ControlPath reversed(ControlPath p) {
  std::swap(p.net.src, p.net.dst);
  std::swap(p.net.mac_src, p.net.mac_dst);
  return p;
}
Buffer built(const ControlPath& p, Bytes payload) {
  Buffer b(control_packet_size(p, payload.size()));
  build_control_packet(p, payload, b);
  return b;
}
/// Ones' complement sum; 0xffff over data whose checksum is right.
uint32_t folded(const Buffer& even) {
  uint32_t sum = 0;
  for (size_t i = 0; i < even.size(); i += 2) sum += load_be16(even.data() + i);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}
Buffer payload_of(size_t n, uint64_t seed) {
  Prng r(seed);
  Buffer b(n);
  for (uint8_t& x : b) x = static_cast<uint8_t>(r.next());
  return b;
}

struct Shape {
  bool v4;
  int tags;
  size_t l3() const { return 14 + 4 * static_cast<size_t>(tags); }
  size_t udp() const { return l3() + (v4 ? 20 : 40); }
};
constexpr Shape kShapes[] = {{true, 0}, {true, 1}, {true, 2}, {false, 0}, {false, 1}, {false, 2}};

TEST(ControlPacket, IsRightInEveryFieldAndKnownAgain) {
  for (const Shape& s : kShapes) {
    const ControlPath p = path_of(s.v4, s.tags);
    for (size_t n : {0u, 1u, 2u, 777u, 1400u}) {
      const Buffer payload = payload_of(n, n);
      const Buffer b = built(p, payload);
      for (int i = 0; i < s.tags; ++i) EXPECT_EQ(b[14 + 4 * i] >> 5, 7);  // PCP of tag i
      const uint8_t* ip = b.data() + s.l3();
      const int traffic_class = s.v4 ? ip[1] : (ip[0] & 0xf) << 4 | ip[1] >> 4;
      EXPECT_EQ(traffic_class >> 2, 48);  // CS6
      EXPECT_EQ(traffic_class & 3, 0);
      if (s.v4) {
        EXPECT_EQ(folded(Buffer(ip, ip + 20)), 0xffffu);
      }
      const Buffer udp(b.begin() + static_cast<std::ptrdiff_t>(s.udp()), b.end());
      EXPECT_EQ(load_be16(udp.data() + 2), 4793);
      EXPECT_NE(load_be16(udp.data() + 6), 0);
      Buffer summed(ip + (s.v4 ? 12 : 8), ip + (s.v4 ? 20 : 40));  // pseudo header (RFC 768, RFC 8200 8.1)
      summed.insert(summed.end(),
                    {0, 17, static_cast<uint8_t>(udp.size() >> 8), static_cast<uint8_t>(udp.size())});
      summed.insert(summed.end(), udp.begin(), udp.end());
      if (summed.size() % 2 != 0) summed.push_back(0);
      EXPECT_EQ(folded(summed), 0xffffu);
      const ControlVerdict v = recognise_control(reversed(p), b);
      ASSERT_EQ(v.kind, Kind::kOurs);
      EXPECT_EQ(Buffer(v.payload.begin(), v.payload.end()), payload);
    }
  }
}

// RFC 768: 0 would say that there is none, and over IPv6 such a datagram is thrown away.
TEST(ControlPacket, AChecksumOfZeroIsSentAsOnes) {
  for (const bool v4 : {true, false}) {
    int ones = 0;
    for (int v = 0; v < 0x10000; ++v) {
      const Buffer b = built(path_of(v4, 0), Buffer{static_cast<uint8_t>(v >> 8), static_cast<uint8_t>(v)});
      const uint16_t checksum = load_be16(b.data() + b.size() - 4);
      ASSERT_NE(checksum, 0);
      ones += checksum == 0xffff;
    }
    EXPECT_GE(ones, 1);
  }
}

TEST(ControlPacket, EthernetPaddingIsNoPayload) {
  const ControlPath p = path_of(true, 0);
  Buffer b = built(p, Buffer{1, 2, 3});
  b.resize(60);
  EXPECT_EQ(recognise_control(reversed(p), b).payload.size(), 3u);
}

TEST(ControlPacket, WhatIsNotForUsIsForeign) {
  for (const Shape& s : kShapes) {
    const ControlPath p = path_of(s.v4, s.tags);
    const Buffer b = built(p, payload_of(40, 1));
    const auto kind = [&](auto change) {
      Buffer c = b;
      change(c);
      return recognise_control(reversed(p), c).kind;
    };
    EXPECT_EQ(recognise_control(p, b).kind, Kind::kForeign);                              // the way back
    EXPECT_EQ(kind([&](Buffer& c) { c[s.udp() + 3] ^= 1; }), Kind::kForeign);             // port
    EXPECT_EQ(kind([&](Buffer& c) { c[s.udp() - 1] ^= 1; }), Kind::kForeign);             // destination
    EXPECT_EQ(kind([&](Buffer& c) { c[s.l3() - 1] ^= 1; }), Kind::kForeign);              // EtherType
    EXPECT_EQ(kind([&](Buffer& c) { c[s.l3() + (s.v4 ? 9 : 6)] = 6; }), Kind::kForeign);  // TCP
    if (s.tags > 0) {
      EXPECT_EQ(kind([&](Buffer& c) { c[15] ^= 1; }), Kind::kForeign);  // VLAN id (H16)
      EXPECT_EQ(kind([&](Buffer& c) { c[14] ^= 0xe0; }), Kind::kOurs);  // PCP
    }
    ControlPath other = reversed(p);
    other.port = 4794;
    EXPECT_EQ(recognise_control(other, b).kind, Kind::kForeign);
  }
  const Buffer roce = test::write_only(true);
  EXPECT_EQ(recognise_control(reversed(path_of(true, 0)), roce).kind, Kind::kForeign);
}

TEST(ControlPacket, WhatIsForUsButWrongDoesNotLeak) {
  for (const Shape& s : kShapes) {
    const ControlPath p = path_of(s.v4, s.tags);
    const Buffer b = built(p, payload_of(40, 1));
    const auto kind = [&](auto change) {
      Buffer c = b;
      change(c);
      return recognise_control(reversed(p), ExactBuffer(c).bytes()).kind;
    };
    const size_t source_end = s.udp() - (s.v4 ? 5 : 17), ip_length = s.l3() + (s.v4 ? 3 : 5);
    EXPECT_EQ(kind([&](Buffer& c) { c[source_end] ^= 1; }), Kind::kBroken);   // not the peer
    EXPECT_EQ(kind([&](Buffer& c) { c[s.udp() + 5] ^= 1; }), Kind::kBroken);  // UDP length
    EXPECT_EQ(kind([&](Buffer& c) { c[ip_length] += 1; }), Kind::kBroken);    // IP length past the end
    EXPECT_EQ(kind([&](Buffer& c) { c[ip_length] -= 1; }), Kind::kBroken);
    EXPECT_EQ(kind([&](Buffer& c) { c.pop_back(); }), Kind::kBroken);
    if (s.v4) {
      EXPECT_EQ(kind([&](Buffer& c) { c[s.l3() + 6] = 0x20; }), Kind::kBroken);  // first fragment
    }
  }
}

TEST(ControlPacket, NoCutOrGarbledFrameIsReadPastItsEnd) {
  Prng r(5);
  for (const Shape& s : kShapes) {
    const ControlPath p = path_of(s.v4, s.tags);
    const Buffer b = built(p, payload_of(40, 1));
    for (size_t size = 0; size < b.size(); ++size) {
      EXPECT_NE(recognise_control(reversed(p), ExactBuffer(Bytes(b).first(size)).bytes()).kind, Kind::kOurs);
    }
    for (int i = 0; i < 20'000; ++i) {
      Buffer c = b;
      c.resize(r.below(c.size() + 1));
      for (int k = 0; k < 3 && !c.empty(); ++k) c[r.below(c.size())] = static_cast<uint8_t>(r.next());
      const ExactBuffer exact(c);
      const ControlVerdict v = recognise_control(reversed(p), exact.bytes());
      if (v.kind != Kind::kOurs || v.payload.empty()) continue;
      ASSERT_GE(v.payload.data(), exact.bytes().data());
      ASSERT_LE(v.payload.data() + v.payload.size(), exact.bytes().data() + exact.bytes().size());
    }
  }
}

TEST(ControlPacket, IntoAPoolThatMayBeEmpty) {
  const ControlPath p = path_of(false, 1);
  test::TestPool pool(1);
  const Buffer payload = payload_of(100, 2);
  const PacketRef packet = build_control_packet(p, payload, pool);
  ASSERT_TRUE(packet);
  EXPECT_EQ(recognise_control(reversed(p), packet->bytes()).kind, Kind::kOurs);
  EXPECT_FALSE(build_control_packet(p, payload, pool));
}

}  // namespace
}  // namespace matchrdma
