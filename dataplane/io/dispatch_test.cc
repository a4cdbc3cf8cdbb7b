#include "dataplane/io/dispatch.h"

#include <map>

#include "dataplane/io/test_eal.h"

namespace matchrdma::io {
namespace {

struct Addresses {
  std::vector<uint8_t> from, to;
};

Addresses v4(uint8_t a, uint8_t b) { return {{10, 0, 0, a}, {10, 0, 1, b}}; }
Addresses v6(uint8_t a, uint8_t b) {
  Addresses x{std::vector<uint8_t>(16, 0xfd), std::vector<uint8_t>(16, 0xfd)};
  x.from[15] = a;
  x.to[15] = b;
  return x;
}
Addresses swapped(const Addresses& a) { return {a.to, a.from}; }

std::vector<uint8_t> frame(const Addresses& a, const std::vector<uint16_t>& vlans = {}) {
  std::vector<uint8_t> f(12, 2);
  const auto put16 = [&f](unsigned v) {
    f.push_back(static_cast<uint8_t>(v >> 8));
    f.push_back(static_cast<uint8_t>(v));
  };
  for (uint16_t v : vlans) {
    put16(0x8100);
    put16(v);
  }
  const bool is_v4 = a.from.size() == 4;
  put16(is_v4 ? 0x0800 : 0x86dd);
  f.insert(f.end(), is_v4 ? 12 : 8, 0);
  f.insert(f.end(), a.from.begin(), a.from.end());
  f.insert(f.end(), a.to.begin(), a.to.end());
  f.insert(f.end(), 20, 0);
  return f;
}

TEST(IoDispatch, BothDirectionsHaveOneOwner) {
  constexpr uint16_t kWorkers = 4;
  std::map<uint16_t, int> owners;
  for (uint8_t a = 0; a < 32; ++a)
    for (uint8_t b = 0; b < 32; ++b)
      for (const auto& pair : {v4(a, b), v6(a, b)})
        for (const auto& vlans : {std::vector<uint16_t>{}, {100}, {100, 200}}) {
          const uint16_t owner = Dispatch::owner(frame(pair, vlans), kWorkers);
          ASSERT_LT(owner, kWorkers);
          ASSERT_EQ(owner, Dispatch::owner(frame(swapped(pair), vlans), kWorkers));
          ++owners[owner];
        }
  // 6144 pairs: a fair share is 1536.
  for (uint16_t w = 0; w < kWorkers; ++w) EXPECT_GT(owners[w], 1200);
  // Priority bits are no part of the id.
  EXPECT_EQ(Dispatch::owner(frame(v4(1, 2), {100}), kWorkers),
            Dispatch::owner(frame(v4(1, 2), {0xe064}), kWorkers));
}

TEST(IoDispatch, FramesCutShortAreSafe) {
  const auto whole = frame(v6(1, 2), {100, 200});
  for (size_t n = 0; n < 62; ++n) {
    const std::vector<uint8_t> part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(n));
    EXPECT_EQ(Dispatch::owner(part, 64), 0);
  }
}

TEST(IoDispatch, HandsOverAndKeepsOrder) {
  test_eal();
  auto pool = MbufPool::create("test", 300, 1526);
  ASSERT_TRUE(pool.ok());
  auto dispatch = Dispatch::create(2, 64);
  ASSERT_TRUE(dispatch.ok()) << dispatch.error();
  std::vector<PacketRef> burst;
  std::vector<uint64_t> expected[2];
  for (uint8_t i = 0; i < 40; ++i) {
    const auto bytes = frame(v4(i, 9));
    PacketRef p = (*pool)->alloc(static_cast<uint32_t>(bytes.size()));
    std::copy(bytes.begin(), bytes.end(), p->data);
    p->tag = i;
    expected[Dispatch::owner(bytes, 2)].push_back(i);
    burst.push_back(std::move(p));
  }
  ASSERT_FALSE(expected[0].empty());
  ASSERT_FALSE(expected[1].empty());
  const uint32_t own = (*dispatch)->sort(0, burst);
  std::vector<uint64_t> stayed;
  for (uint32_t i = 0; i < own; ++i) stayed.push_back(burst[i]->tag);
  EXPECT_EQ(stayed, expected[0]);
  std::vector<PacketRef> others(64);
  others.resize((*dispatch)->take(1, others));
  std::vector<uint64_t> went;
  for (const PacketRef& p : others) went.push_back(p->tag);
  EXPECT_EQ(went, expected[1]);
  EXPECT_EQ((*dispatch)->take(0, burst), 0u);
  burst.clear();
  others.clear();
  EXPECT_EQ((*pool)->available(), 300u);
}

/// A packet that the second of two workers owns.
PacketRef of_the_other(MbufPool& pool) {
  uint8_t other = 0;
  while (Dispatch::owner(frame(v4(other, 9)), 2) != 1) ++other;
  const auto bytes = frame(v4(other, 9));
  PacketRef p = pool.alloc(static_cast<uint32_t>(bytes.size()));
  std::copy(bytes.begin(), bytes.end(), p->data);
  return p;
}

TEST(IoDispatch, AFullRingDropsAndCounts) {
  test_eal();
  auto pool = MbufPool::create("test", 300, 1526);
  ASSERT_TRUE(pool.ok());
  {
    auto dispatch = Dispatch::create(2, 16);
    ASSERT_TRUE(dispatch.ok()) << dispatch.error();
    for (int i = 0; i < 20; ++i) {
      PacketRef one[1] = {of_the_other(**pool)};
      EXPECT_EQ((*dispatch)->sort(0, one), 0u);
    }
    EXPECT_EQ((*dispatch)->dropped(0), 5u);  // a ring of 16 holds 15
    EXPECT_EQ((*pool)->available(), 285u);
  }
  EXPECT_EQ((*pool)->available(), 300u);
}

TEST(IoDispatch, OfABurstTheFirstFit) {
  test_eal();
  auto pool = MbufPool::create("test", 300, 1526);
  ASSERT_TRUE(pool.ok());
  {
    auto dispatch = Dispatch::create(2, 16);
    ASSERT_TRUE(dispatch.ok()) << dispatch.error();
    std::vector<PacketRef> burst;
    for (uint64_t i = 0; i < 20; ++i) {
      burst.push_back(of_the_other(**pool));
      burst.back()->tag = i;
    }
    EXPECT_EQ((*dispatch)->sort(0, burst), 0u);
    EXPECT_EQ((*dispatch)->dropped(0), 5u);
    EXPECT_EQ((*pool)->available(), 285u);
    std::vector<PacketRef> others(64);
    others.resize((*dispatch)->take(1, others));
    ASSERT_EQ(others.size(), 15u);
    for (uint64_t i = 0; i < others.size(); ++i) EXPECT_EQ(others[i]->tag, i);
  }
  EXPECT_EQ((*pool)->available(), 300u);
}

TEST(IoDispatch, ABadSizeIsExplained) {
  test_eal();
  const auto dispatch = Dispatch::create(2, 100);
  ASSERT_FALSE(dispatch.ok());
  EXPECT_NE(dispatch.error().find("the size must be a power of two"), std::string::npos);
}

}  // namespace
}  // namespace matchrdma::io
