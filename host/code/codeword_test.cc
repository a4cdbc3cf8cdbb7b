#include "host/code/codeword.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <vector>

#include "dataplane/base/prng.h"

namespace matchrdma::host {
namespace {

CodewordLayout layout_of(const CodewordGeometry& g) { return CodewordLayout::make(g).value(); }

CodewordGeometry draw(Prng& prng) {
  CodewordGeometry g;
  g.packet_bytes = static_cast<uint32_t>(prng.between(1, 100));
  g.chunk_packets = static_cast<uint32_t>(prng.between(1, 20));
  g.k = static_cast<uint32_t>(prng.between(1, 12));
  g.m = static_cast<uint32_t>(prng.between(1, 5));
  g.message_bytes = prng.below(4u * g.packet_bytes * g.chunk_packets * g.k);
  return g;
}

std::string text(const CodewordGeometry& g) {
  return std::to_string(g.message_bytes) + " bytes, packet " + std::to_string(g.packet_bytes) + ", chunk " +
         std::to_string(g.chunk_packets) + ", k " + std::to_string(g.k) + ", m " + std::to_string(g.m);
}

/// Everything the layout promises, counted packet by packet.
void check_layout(const CodewordGeometry& g) {
  SCOPED_TRACE(text(g));
  const CodewordLayout l = layout_of(g);
  std::map<std::pair<uint64_t, uint32_t>, std::vector<uint64_t>> codewords;  // when their packets are sent
  std::map<std::pair<uint64_t, uint32_t>, std::pair<uint32_t, uint32_t>> counts;
  std::vector<bool> sent(l.data_packets() + l.parity_packets());
  uint64_t bytes = 0;
  const auto visit = [&](const CodewordPlace& p, bool is_data) {
    ASSERT_LT(p.group, l.groups());
    ASSERT_LT(p.codeword, l.codewords(p.group));
    ASSERT_EQ(p.position < g.k, is_data);
    ASSERT_LT(p.position, g.k + g.m);
    const uint64_t at = l.sent_as(p);
    ASSERT_LT(at, sent.size());
    ASSERT_FALSE(sent[at]) << "two packets at a time";
    sent[at] = true;
    codewords[{p.group, p.codeword}].push_back(at);
    ++(is_data ? counts[{p.group, p.codeword}].first : counts[{p.group, p.codeword}].second);
  };
  for (uint64_t i = 0; i < l.data_packets(); ++i) {
    const CodewordPlace p = l.place_of_data(i);
    ASSERT_EQ(l.data_packet(p), i);
    visit(p, true);
    bytes += l.data_bytes(i);
    ASSERT_LE(l.data_bytes(i), l.parity_bytes(p.group, p.codeword));
  }
  for (uint64_t i = 0; i < l.parity_packets(); ++i) {
    const CodewordPlace p = l.place_of_parity(i);
    ASSERT_EQ(l.parity_packet(p), i);
    visit(p, false);
  }
  ASSERT_EQ(bytes, g.message_bytes);
  uint64_t in_groups = 0;
  for (uint64_t group = 0; group < l.groups(); ++group) in_groups += l.codewords(group);
  ASSERT_EQ(codewords.size(), in_groups);
  for (const auto& [name, n] : counts) {
    ASSERT_GE(n.first, 1u);
    ASSERT_LE(n.first, g.k);
    ASSERT_EQ(n.first, l.data_in(name.first, name.second));
    ASSERT_EQ(n.second, g.m);
  }
  for (auto& [name, at] : codewords) {
    std::sort(at.begin(), at.end());
    // A group of one chunk has no more codewords than packets.
    const uint64_t apart = std::min<uint64_t>(g.chunk_packets, l.codewords(name.first));
    ASSERT_TRUE(apart == g.chunk_packets || name.first + 1 == l.groups());
    for (size_t i = 1; i < at.size(); ++i) ASSERT_GE(at[i] - at[i - 1], apart);
  }
}

TEST(Codeword, EveryPacketIsInOneCodewordAndFarFromTheOthers) {
  Prng prng(1);
  for (int i = 0; i < 3000 && !testing::Test::HasFatalFailure(); ++i) check_layout(draw(prng));
}

TEST(Codeword, EdgesOfGroupsAndChunks) {
  for (const uint64_t packets : {0, 1, 15, 16, 17, 511, 512, 513, 527, 528, 529, 1024}) {
    for (const int64_t more : {-1, 0, 1}) {
      const int64_t bytes = static_cast<int64_t>(packets) * 64 + more;
      if (bytes >= 0) check_layout({static_cast<uint64_t>(bytes), 64, 16, 32, 8});
    }
  }
  check_layout({1'000'000, 4096, 1, 247, 8});
}

TEST(Codeword, AWholeGroup) {
  const CodewordLayout l = layout_of({.message_bytes = uint64_t{2} * 32 * 16 * 4096});
  EXPECT_EQ(l.data_packets(), 1024u);
  EXPECT_EQ(l.groups(), 2u);
  EXPECT_EQ(l.parity_packets(), 256u);
  EXPECT_EQ(l.place_of_data(0), (CodewordPlace{0, 0, 0}));
  EXPECT_EQ(l.place_of_data(17), (CodewordPlace{0, 1, 1}));
  EXPECT_EQ(l.place_of_data(512), (CodewordPlace{1, 0, 0}));
  EXPECT_EQ(l.place_of_parity(0), (CodewordPlace{0, 0, 32}));
  EXPECT_EQ(l.place_of_parity(17), (CodewordPlace{0, 1, 33}));
  EXPECT_EQ(l.place_of_parity(128), (CodewordPlace{1, 0, 32}));
  EXPECT_EQ(l.sent_as({0, 0, 32}), 512u);
  EXPECT_EQ(l.sent_as({1, 0, 0}), 640u);
}

// 21 packets in chunks of 8: the third chunk has 5, the parity goes on with codeword 5.
TEST(Codeword, ParityGoesOnWhereTheDataStopped) {
  const CodewordLayout l =
      layout_of({.message_bytes = 20 * 100 + 7, .packet_bytes = 100, .chunk_packets = 8, .k = 4, .m = 2});
  EXPECT_EQ(l.codewords(0), 8u);
  EXPECT_EQ(l.data_in(0, 4), 3u);
  EXPECT_EQ(l.data_in(0, 5), 2u);
  EXPECT_EQ(l.place_of_parity(0), (CodewordPlace{0, 5, 4}));
  EXPECT_EQ(l.place_of_parity(3), (CodewordPlace{0, 0, 4}));
  EXPECT_EQ(l.place_of_parity(8), (CodewordPlace{0, 5, 5}));
  EXPECT_EQ(l.parity_bytes(0, 4), 100u) << "its last data packet has 7";
}

TEST(Codeword, LessThanAChunk) {
  const CodewordLayout l =
      layout_of({.message_bytes = 207, .packet_bytes = 100, .chunk_packets = 8, .k = 4, .m = 2});
  EXPECT_EQ(l.codewords(0), 3u);
  EXPECT_EQ(l.parity_packets(), 6u);
  EXPECT_EQ(l.data_in(0, 2), 1u);
  EXPECT_EQ(l.parity_bytes(0, 2), 7u) << "as long as what it protects";
  EXPECT_EQ(layout_of({.message_bytes = 0}).parity_packets(), 0u);
}

TEST(Codeword, RefusesWhatCannotBe) {
  for (const CodewordGeometry& g : {CodewordGeometry{1, 0, 16, 32, 8},
                                    {1, 4096, 0, 32, 8},
                                    {1, 4096, 16, 0, 8},
                                    {1, 4096, 16, 32, 0},
                                    {1, 4096, 16, 248, 8},
                                    {1, 4096, 16, UINT32_MAX, 2},
                                    {(uint64_t{1} << 32) + 1, 1, 16, 32, 8},
                                    {UINT64_MAX, 4096, 16, 32, 8}}) {
    const auto r = CodewordLayout::make(g);
    ASSERT_FALSE(r.ok()) << text(g);
    EXPECT_FALSE(r.error().empty());
  }
  const CodewordLayout largest = layout_of({uint64_t{1} << 32, 1, UINT32_MAX, 247, 8});
  EXPECT_EQ(largest.data_packets(), uint64_t{1} << 32);
  EXPECT_EQ(largest.place_of_data(UINT32_MAX), (CodewordPlace{0, 0, 1}));
  EXPECT_EQ(largest.parity_packet({0, 0, 247}), UINT32_MAX - uint64_t{1});
}

/// More than m of n gone, each with probability p.
double more_than(int m, int n, double p) {
  double sum = 0;
  for (int i = m + 1; i <= n; ++i) {
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) + i * std::log(p) +
                    (n - i) * std::log1p(-p));
  }
  return sum;
}

// The figures of docs/decisions/0023-erasure-code.md: 128 MiB in packets of 4096 bytes, (32,8), 1 % lost.
TEST(Codeword, WhyCodewordsOfPackets) {
  constexpr double kLoss = 0.01;
  const double codeword = more_than(8, 40, kLoss);
  const auto message_fails = [](double one, double of) { return 1 - std::pow(1 - one, of); };
  std::printf("codeword of packets: %.2e, message of 1024: %.2e\n", codeword, message_fails(codeword, 1024));
  EXPECT_NEAR(codeword, 2.07e-10, 0.01e-10);
  EXPECT_NEAR(message_fails(codeword, 1024), 2.12e-7, 0.01e-7);
  for (const int chunk : {16, 64, 256}) {
    const double group = more_than(8, 40, -std::expm1(chunk * std::log1p(-kLoss)));
    std::printf("codeword of chunks of %d packets: %.4f, message: %.6f\n", chunk, group,
                message_fails(group, 1024.0 / chunk));
    EXPECT_GT(message_fails(group, 1024.0 / chunk), 0.99);
  }
}

}  // namespace
}  // namespace matchrdma::host
