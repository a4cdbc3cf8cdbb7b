#include "dataplane/wire/icrc.h"

#include <gtest/gtest.h>

#include "dataplane/wire/test_frames.h"

namespace matchrdma {
namespace {

using test::connectx_cnp;
using test::insert_into_ip;
using test::write_only;

/// The rule of IBA A17.3.3 word by word, a bit at a time: shares nothing with icrc.cc.
uint32_t reference_icrc(const Frame& f) {
  std::vector<uint8_t> m(8, 0xff);
  m.insert(m.end(), f.data() + f.l3_offset(), f.data() + f.icrc_offset());
  uint8_t* ip = m.data() + 8;
  const std::vector<int> masked = f.is_v4() ? std::vector<int>{1, 8, 10, 11} : std::vector<int>{1, 2, 3, 7};
  for (int i : masked) ip[i] = 0xff;
  if (!f.is_v4()) ip[0] |= 0xf;
  const uint32_t udp = f.udp_offset() - f.l3_offset();
  ip[udp + 6] = ip[udp + 7] = ip[udp + 12] = 0xff;
  uint32_t crc = 0xffffffff;
  for (uint8_t byte : m) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

Frame parsed(Bytes b) {
  const ParseResult r = parse_frame(b);
  EXPECT_EQ(r.kind, ParseKind::kRoce) << reason_text(r.reason);
  return r.frame;
}

// IBA A17.3.3; bytes of a real NIC.
TEST(Icrc, ConnectX4CnpVector) {
  auto b = connectx_cnp();
  const Frame f = parsed(b);
  EXPECT_EQ(compute_icrc(f), 0x2a00fd82u);
  EXPECT_TRUE(icrc_ok(f));
  b.back() ^= 1;
  EXPECT_FALSE(icrc_ok(f));
  write_icrc(f, b);
  EXPECT_EQ(b, connectx_cnp());
}

TEST(Icrc, AgreesWithTheBitwiseRule) {
  std::vector<uint8_t> payload(4096);
  for (size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<uint8_t>(i * 7);
  for (bool v4 : {true, false}) {
    for (size_t n : {0, 1, 2, 3, 4, 63, 1024, 4096}) {
      const auto b =
          test::build(test::endpoints(v4, 1), test::spec_of(op::kRcSendOnly, Bytes(payload).first(n)));
      const Frame f = parsed(b);
      EXPECT_EQ(compute_icrc(f), reference_icrc(f)) << v4 << ' ' << n;
      EXPECT_TRUE(icrc_ok(f));
    }
  }
}

TEST(Icrc, CoversIpOptionsAndIpv6Extensions) {
  auto v4 = insert_into_ip(write_only(true), 14 + 20, std::vector<uint8_t>(40, 1));
  v4[14] = 0x4f;
  EXPECT_EQ(compute_icrc(parsed(v4)), reference_icrc(parsed(v4)));
  std::vector<uint8_t> options(kMaxIpv6ExtBytes, 0);
  options[0] = 17;
  options[1] = kMaxIpv6ExtBytes / 8 - 1;
  auto v6 = insert_into_ip(write_only(false), 14 + 40, options);
  v6[14 + 6] = 60;
  EXPECT_EQ(compute_icrc(parsed(v6)), reference_icrc(parsed(v6)));
}

// What a router may change leaves the ICRC right; everything else from the IP header on breaks it (IBA
// A17.3.3).
TEST(Icrc, EveryByteIsEitherMaskedOrCovered) {
  for (bool v4 : {true, false}) {
    const auto good = write_only(v4);
    const Frame f = parsed(good);
    const uint32_t l3 = f.l3_offset();
    for (uint32_t i = l3; i < f.icrc_offset(); ++i) {
      auto b = good;
      b[i] ^= 0x01;  // in byte 0 of IPv6: a bit of the traffic class
      const Frame changed = parse_frame(b).frame;
      const uint32_t at = i - l3;
      const bool masked = i == f.udp_offset() + 6 || i == f.udp_offset() + 7 || i == f.bth_offset() + 4 ||
                          (v4 ? at == 1 || at == 8 || at == 10 || at == 11 : at <= 3 || at == 7);
      if (changed.data() == nullptr) continue;  // a length or a version: no longer the same packet
      EXPECT_EQ(icrc_ok(changed), masked) << "v4 " << v4 << " byte " << at;
    }
  }
}

TEST(Icrc, PaddingBehindTheIpPacketIsNotCovered) {
  auto b = write_only(true);
  b.insert(b.end(), {1, 2, 3});
  EXPECT_TRUE(icrc_ok(parsed(b)));
}

TEST(Icrc, Crc32IsThatOfZlib) {
  const std::string_view digits = "123456789";
  std::vector<uint8_t> b(digits.begin(), digits.end());
  EXPECT_EQ(crc32(0, b), 0xcbf43926u);
  EXPECT_EQ(crc32(crc32(0, Bytes(b).first(4)), Bytes(b).subspan(4)), 0xcbf43926u);
  EXPECT_EQ(crc32(0, {}), 0u);
}

}  // namespace
}  // namespace matchrdma
