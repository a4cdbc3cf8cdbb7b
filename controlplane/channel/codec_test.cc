// The codec: what is decoded is what was encoded, and nothing that breaks a rule passes in either direction.
#include "controlplane/channel/codec.h"

#include <gtest/gtest.h>

#include <set>

#include "controlplane/channel/test_leaves.h"
#include "controlplane/channel/test_messages.h"

namespace matchrdma {
namespace {

using Buffer = std::vector<uint8_t>;

Buffer encoded(const Message& m) {
  Buffer b(kMaxMessageBytes);
  b.resize(encode(m, b));
  return b;
}
std::vector<Message> decoded(Bytes b, DecodeCounts* counts = nullptr) {
  std::vector<Message> out;
  DecodeCounts n;
  EXPECT_TRUE(decode(b, out, n));
  if (counts != nullptr) *counts = n;
  return out;
}

TEST(Codec, RoundTripOfEveryTypeCarriesEveryField) {
  test::MessageMaker make(1);
  for (size_t type = 0; type < std::variant_size_v<Message>; ++type) {
    std::vector<std::set<uint64_t>> values;
    size_t longest = 0;
    for (int i = 0; i < 2000; ++i) {
      const Message m = make.of_type(type);
      const std::vector<uint64_t> leaves = test::leaves_of(m);
      const Buffer b = encoded(m);
      longest = std::max(longest, b.size());
      ASSERT_FALSE(b.empty()) << "type " << type;
      const std::vector<Message> back = decoded(b);
      ASSERT_EQ(back.size(), 1u) << "type " << type;
      ASSERT_EQ(test::leaves_of(back[0]), leaves);
      ASSERT_EQ(encoded(back[0]), b);
      values.resize(leaves.size());
      for (size_t k = 0; k < leaves.size(); ++k) values[k].insert(leaves[k]);
    }
    // A field that the maker never varies would prove nothing.
    for (size_t k = 1; k < values.size(); ++k)
      EXPECT_GT(values[k].size(), 1u) << "type " << type << " leaf " << k;
    EXPECT_LE(longest, kMaxMessageBytes);
  }
}

TEST(Codec, WhateverDecodesEncodesToTheSameBytes) {
  test::MessageMaker make(2);
  Prng r(3);
  int sound = 0, malformed = 0;
  for (int i = 0; i < 200'000; ++i) {
    Buffer b = encoded(make.any());
    const size_t at = kMessageHeaderBytes + r.below(b.size() - kMessageHeaderBytes);
    b[at] = static_cast<uint8_t>(r.chance(0.5) ? b[at] ^ (1u << r.below(8)) : r.below(256));
    DecodeCounts n;
    const std::vector<Message> back = decoded(b, &n);
    if (back.empty()) {
      ASSERT_EQ(n.malformed, 1u);
      ++malformed;
      continue;
    }
    ASSERT_EQ(encoded(back[0]), b);
    ++sound;
  }
  EXPECT_GT(sound, 1000);
  EXPECT_GT(malformed, 1000);
}

TEST(Codec, EveryShorterOrLongerBodyIsMalformed) {
  test::MessageMaker make(4);
  for (size_t type = 0; type < std::variant_size_v<Message>; ++type) {
    const Buffer whole = encoded(make.of_type(type));
    for (size_t size = kMessageHeaderBytes; size <= whole.size() + 1; ++size) {
      if (size == whole.size()) continue;
      Buffer b = whole;
      b.resize(size);
      store_be16(b.data() + 1, static_cast<uint16_t>(size - kMessageHeaderBytes));
      DecodeCounts n;
      EXPECT_TRUE(decoded(b, &n).empty());
      EXPECT_EQ(n.malformed, 1u);
    }
  }
}

TEST(Codec, UnknownTypesAreSkippedAndMalformedOnesCostOnlyThemselves) {
  const Buffer a = encoded(FlowClosed{FlowId{1}}), c = encoded(FlowClosed{FlowId{2}});
  Buffer b = a;
  const Buffer unknown{0xee, 0, 2, 1, 2}, malformed{1, 0, 1, 0};
  for (const Buffer& more : {unknown, malformed, c}) b.insert(b.end(), more.begin(), more.end());
  DecodeCounts n;
  const std::vector<Message> back = decoded(b, &n);
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(std::get<FlowClosed>(back[1]).id.v, 2u);
  EXPECT_EQ(n, (DecodeCounts{1, 1}));
}

TEST(Codec, BrokenFramingSpoilsTheWholePayload) {
  Buffer b = encoded(FlowClosed{FlowId{1}});
  for (const Buffer& tail : {Buffer{8}, Buffer{8, 0}, Buffer{8, 0, 8, 1}}) {
    Buffer broken = b;
    broken.insert(broken.end(), tail.begin(), tail.end());
    std::vector<Message> out;
    DecodeCounts n;
    EXPECT_FALSE(decode(broken, out, n));
    EXPECT_TRUE(out.empty());
    EXPECT_EQ(n, DecodeCounts{});
  }
}

TEST(Codec, WhatBreaksARuleIsNotEncoded) {
  test::MessageMaker make(5);
  const auto changed = [&]<class T>(T, auto change) {
    T m{};
    for (;;) {
      const Message any = make.any();
      if (const T* found = std::get_if<T>(&any)) {
        m = *found;
        break;
      }
    }
    change(m);
    return encoded(m).size();
  };
  EXPECT_EQ(changed(FlowOpen{}, [](FlowOpen& m) { m.sender_qpn.v = 1 << 24; }), 0u);
  EXPECT_EQ(changed(FlowOpen{}, [](FlowOpen& m) { m.path_mtu = 0; }), 0u);
  EXPECT_EQ(changed(FlowOpen{}, [](FlowOpen& m) { m.path_mtu = 1500; }), 0u);
  EXPECT_EQ(changed(RegisterQp{}, [](RegisterQp& m) { m.reg.path_mtu = 1500; }), 0u);
  EXPECT_NE(changed(UnregisterQp{}, [](UnregisterQp& m) { m.reg.path_mtu = 0; }), 0u);
  EXPECT_EQ(changed(FlowOpen{}, [](FlowOpen& m) { m.completion = static_cast<Completion>(3); }), 0u);
  EXPECT_EQ(changed(FlowOpen{}, [](FlowOpen& m) { m.key.vlan_inner = 0x1000; }), 0u);
  EXPECT_EQ(changed(FlowOpen{},
                    [](FlowOpen& m) {
                      m.key.src = IpAddress{};
                      m.key.dst = IpAddress::v4(m.key.src.b.data());
                    }),
            0u);
  EXPECT_EQ(changed(FlowBase{}, [](FlowBase& m) { m.base = -1; }), 0u);
  EXPECT_EQ(changed(FlowBase{}, [](FlowBase& m) { m.base = INT64_MAX; }), 0u);
  EXPECT_EQ(changed(Budget{}, [](Budget& m) { m.rate.bps = -1; }), 0u);
  EXPECT_EQ(changed(Budget{}, [](Budget& m) { m.validity.ns = -1; }), 0u);
  EXPECT_EQ(changed(Probe{}, [](Probe& m) { m.t1 = Instant::never(); }), 0u);
  const auto ack = [&](auto change) { return changed(CustodyAck{}, change); };
  EXPECT_EQ(ack([](CustodyAck& m) { m.ranges = CustodyAck::kRanges + 1; }), 0u);
  EXPECT_EQ(ack([](CustodyAck& m) { m.ranges = 256; }), 0u);
  EXPECT_EQ(ack([](CustodyAck& m) { m.ranges = -1; }), 0u);
  EXPECT_EQ(ack([](CustodyAck& m) { m.ranges = 1, m.range[0] = {5, 5}; }), 0u);
  EXPECT_EQ(ack([](CustodyAck& m) { m.ranges = 2, m.range[0] = {5, 9}, m.range[1] = {5, 6}; }), 0u);
  EXPECT_NE(ack([](CustodyAck& m) { m.ranges = 2, m.range[0] = {5, 9}, m.range[1] = {6, 7}; }), 0u);
  EXPECT_EQ(ack([](CustodyAck& m) { m.credits = 32; }), 0u);
  EXPECT_EQ(ack([](CustodyAck& m) { m.msn_real.v = 1 << 24; }), 0u);
  EXPECT_EQ(ack([](CustodyAck& m) { m.form.known = true, m.form.net = {}, m.form.net.vlan_tags = 3; }), 0u);
}

TEST(Codec, AMappedAddressHasOneSpelling) {
  test::MessageMaker make(6);
  Budget m{};
  static constexpr uint8_t kIp[] = {10, 0, 0, 1};
  m.group.dst = IpAddress::v4(kIp);
  const Buffer v4 = encoded(m);
  Buffer v6 = v4;  // the same address, spelled as 16 bytes of IPv6
  v6[kMessageHeaderBytes] = 0;
  v6.insert(v6.begin() + kMessageHeaderBytes + 1, m.group.dst.b.begin(), m.group.dst.b.begin() + 12);
  store_be16(v6.data() + 1, static_cast<uint16_t>(v6.size() - kMessageHeaderBytes));
  DecodeCounts n;
  EXPECT_EQ(decoded(v4, &n).size(), 1u);
  EXPECT_TRUE(decoded(v6, &n).empty());
  EXPECT_EQ(n.malformed, 1u);
}

TEST(Codec, NeverWritesPastTheRoomItHas) {
  test::MessageMaker make(7);
  for (int i = 0; i < 200; ++i) {
    const Message m = make.any();
    const size_t size = encoded(m).size();
    for (size_t room = 0; room < size; ++room) {
      Buffer exact(room);
      EXPECT_EQ(encode(m, exact), 0u);
    }
  }
}

}  // namespace
}  // namespace matchrdma
