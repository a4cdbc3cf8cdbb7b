#include "host/code/erasure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "dataplane/base/prng.h"
#include "host/code/test_gf.h"

namespace matchrdma::host {
namespace {

using test::cauchy;
using test::CodeShape;
using test::draw;
using test::times;

using Block = std::vector<uint8_t>;

Block random_block(Prng& prng, size_t n) {
  Block b(n);
  for (uint8_t& x : b) x = static_cast<uint8_t>(prng.next());
  return b;
}

/// A codeword at both ends. Each block stands in memory of exactly its size, so that the sanitizer sees every
/// step beside it.
struct Codeword {
  std::vector<Block> data, parities;

  Codeword(Prng& prng, const std::vector<size_t>& lengths, uint32_t m) {
    for (const size_t n : lengths) data.push_back(random_block(prng, n));
    parities.assign(m, random_block(prng, *std::max_element(lengths.begin(), lengths.end())));
  }
  std::vector<Bytes> sources() const { return {data.begin(), data.end()}; }
  /// Valid until the next call.
  EqualBlocks outs() {
    pointers_.clear();
    for (Block& p : parities) pointers_.push_back(p.data());
    return {pointers_, parities[0].size()};
  }
  void encode(const ErasureCode& code) { code.encode(sources(), outs()); }

 private:
  std::vector<uint8_t*> pointers_;
};

Codeword equal_blocks(Prng& prng, uint32_t blocks, uint32_t m, size_t n) {
  return {prng, std::vector<size_t>(blocks, n), m};
}

/// Decodes with the blocks `lost` gone (data first, then parities) and compares all with what was there.
Decoded lose_and_decode(ErasureCode& code, const Codeword& c, const std::vector<uint32_t>& lost,
                        bool want_parities) {
  Codeword got = c;
  std::vector<CodeBlock> data(got.data.begin(), got.data.end()),
      parities(got.parities.begin(), got.parities.end());
  for (const uint32_t i : lost) {
    const bool is_data = i < data.size();
    CodeBlock& b = is_data ? data[i] : parities[i - data.size()];
    b.present = false;
    std::fill(b.bytes.begin(), b.bytes.end(), uint8_t{0xee});
    if (!is_data && !want_parities) b.bytes = {};
  }
  const Codeword before = got;
  const Decoded result = code.decode(data, parities);
  if (result == Decoded::kTooManyMissing) {
    EXPECT_EQ(got.data, before.data) << "nothing is written";
    EXPECT_EQ(got.parities, before.parities) << "nothing is written";
  } else {
    EXPECT_EQ(got.data, c.data);
    EXPECT_EQ(got.parities, want_parities ? c.parities : before.parities);
  }
  return result;
}

bool any_data(const std::vector<uint32_t>& lost, size_t data_blocks) {
  return std::any_of(lost.begin(), lost.end(), [&](uint32_t i) { return i < data_blocks; });
}

ErasureCode code_of(uint32_t k, uint32_t m, size_t cached = ErasureCode::kCachedPatterns) {
  return ErasureCode::make(k, m, cached).value();
}

constexpr std::array<CodeShape, 14> kShapes{{{1, 1},
                                             {1, 2},
                                             {2, 1},
                                             {4, 1},
                                             {3, 3},
                                             {8, 2},
                                             {5, 7},
                                             {10, 4},
                                             {16, 16},
                                             {32, 8},
                                             {1, 254},
                                             {254, 1},
                                             {247, 8},
                                             {128, 127}}};

TEST(Erasure, RefusesWhatIsNoCode) {
  for (const auto& [k, m] :
       {CodeShape{0, 1}, {1, 0}, {0, 0}, {248, 8}, {255, 1}, {UINT32_MAX, 1}, {1, UINT32_MAX}}) {
    const auto r = ErasureCode::make(k, m);
    ASSERT_FALSE(r.ok()) << k << ' ' << m;
    EXPECT_NE(r.error().find("255"), std::string::npos) << r.error();
  }
  EXPECT_TRUE(ErasureCode::make(247, 8).ok());
}

TEST(Erasure, EncodesAsTheDefinitionSays) {
  Prng prng(1);
  for (const auto& [k, m] : kShapes) {
    const ErasureCode code = code_of(k, m);
    const std::vector<uint8_t> a = cauchy(k, m);
    for (const size_t n : {size_t{1}, size_t{31}, size_t{100}}) {
      Codeword c = equal_blocks(prng, k, m, n);
      c.encode(code);
      for (uint32_t r = 0; r < m; ++r) {
        Block expected(n, 0);
        for (uint32_t i = 0; i < k; ++i) {
          for (size_t x = 0; x < n; ++x) expected[x] ^= times(a[r * k + i], c.data[i][x]);
        }
        ASSERT_EQ(c.parities[r], expected) << k << ' ' << m << " length " << n << " row " << r;
      }
    }
  }
}

TEST(Erasure, OneParityIsTheXor) {
  Prng prng(2);
  for (const uint32_t k : {1u, 2u, 3u, 4u, 5u, 32u}) {
    ErasureCode code = code_of(k, 1);
    Codeword c = equal_blocks(prng, k, 1, 10'000);
    c.encode(code);
    Block all(10'000, 0);
    for (const Block& d : c.data) {
      for (size_t x = 0; x < d.size(); ++x) all[x] ^= d[x];
    }
    EXPECT_EQ(c.parities[0], all) << k;
    EXPECT_EQ(lose_and_decode(code, c, {k - 1}, false), Decoded::kRestored);
    EXPECT_EQ(code.decode_tables().misses(), 0u);
  }
}

// ISA-L's own XOR is used where all blocks are of one length at multiples of 32 bytes.
TEST(Erasure, XorOfAlignedBlocksStaysInThem) {
  constexpr size_t kStride = 4224, kMark = 0x5a;
  Prng prng(11);
  for (const uint32_t k : {1u, 2u, 3u, 8u, 32u}) {
    ErasureCode code = code_of(k, 1);
    for (const size_t n :
         {1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257, 1024, 1500, 4095, 4096, 4097}) {
      Block memory((k + 1) * kStride + 64, kMark);
      uint8_t* const begin = &memory[64 - std::bit_cast<uintptr_t>(memory.data()) % 64];
      std::vector<Bytes> data;
      std::vector<CodeBlock> blocks;
      const MutableBytes parity(begin + k * kStride, n);
      Block expected(n, 0);
      for (uint32_t i = 0; i < k; ++i) {
        const Block b = random_block(prng, n);
        for (size_t x = 0; x < n; ++x) expected[x] ^= b[x];
        std::copy(b.begin(), b.end(), begin + i * kStride);
        data.emplace_back(begin + i * kStride, n);
        blocks.push_back({{begin + i * kStride, n}, true});
      }
      uint8_t* const at = parity.data();
      code.encode(data, {{&at, 1}, n});
      ASSERT_TRUE(std::equal(parity.begin(), parity.end(), expected.begin())) << k << ' ' << n;
      const Block before = memory;
      std::fill_n(blocks[k / 2].bytes.begin(), n, uint8_t{0});
      blocks[k / 2].present = false;
      const std::array<CodeBlock, 1> parities{{{parity, true}}};
      ASSERT_EQ(code.decode(blocks, parities), Decoded::kRestored);
      ASSERT_EQ(memory, before) << k << ' ' << n;
      for (uint32_t i = 0; i <= k; ++i) {
        ASSERT_TRUE(std::all_of(begin + i * kStride + n,
                                begin + std::min<size_t>(i + 1, k) * kStride + (i == k ? n : 0),
                                [](uint8_t b) { return b == kMark; }));
      }
    }
  }
}

TEST(Erasure, RestoresEveryPatternOfSmallCodes) {
  Prng prng(3);
  for (const auto& [k, m] : {CodeShape{1, 1}, {2, 1}, {4, 1}, {2, 2}, {3, 3}, {8, 2}, {5, 4}, {1, 6}}) {
    ErasureCode code = code_of(k, m);
    Codeword c = equal_blocks(prng, k, m, 67);
    c.encode(code);
    for (uint32_t mask = 0; mask < 1u << (k + m); ++mask) {
      std::vector<uint32_t> lost;
      for (uint32_t i = 0; i < k + m; ++i) {
        if ((mask >> i & 1) != 0) lost.push_back(i);
      }
      const Decoded expected = !any_data(lost, k) ? Decoded::kWhole
                               : lost.size() > m  ? Decoded::kTooManyMissing
                                                  : Decoded::kRestored;
      ASSERT_EQ(lose_and_decode(code, c, lost, (mask & 1) != 0), expected) << k << ' ' << m << " lost " << mask;
    }
  }
}

TEST(Erasure, RestoresRandomPatterns) {
  Prng prng(4);
  for (const auto& [k, m] : kShapes) {
    ErasureCode code = code_of(k, m, 4);
    for (const size_t n : {1, 15, 16, 33, 63, 64, 65, 127, 129, 255, 1024, 1500, 4096}) {
      Codeword c = equal_blocks(prng, k, m, n);
      c.encode(code);
      const auto lost = draw(prng, k + m, static_cast<uint32_t>(prng.between(1, m)));
      ASSERT_EQ(lose_and_decode(code, c, lost, prng.chance(0.5)),
                any_data(lost, k) ? Decoded::kRestored : Decoded::kWhole);
      const auto many = draw(prng, k + m, std::min(k + m, m + 1));
      ASSERT_EQ(lose_and_decode(code, c, many, true), Decoded::kTooManyMissing) << "of m + 1 one is data";
    }
  }
}

// Lengths differ, and codewords of the last group have fewer than k data blocks.
TEST(Erasure, ShortBlocksAndShortenedCodewords) {
  Prng prng(5);
  for (int round = 0; round < 1500; ++round) {
    const CodeShape s = kShapes[prng.below(11)];
    ErasureCode code = code_of(s.k, s.m);
    std::vector<size_t> lengths(static_cast<size_t>(prng.between(1, s.k)), prng.between(1, 700));
    if (prng.chance(0.5)) lengths.back() = prng.between(1, lengths.back());
    if (prng.chance(0.2)) {
      for (size_t& n : lengths) n = prng.between(1, 300);
    }
    Codeword c(prng, lengths, s.m), padded = c;
    c.encode(code);
    padded.data.resize(s.k);
    for (Block& d : padded.data) d.resize(c.parities[0].size(), 0);
    padded.encode(code);
    ASSERT_EQ(c.parities, padded.parities) << "zeros that nobody stores count as zeros";
    const auto blocks = static_cast<uint32_t>(lengths.size());
    const auto lost = draw(prng, blocks + s.m, static_cast<uint32_t>(prng.between(0, s.m)));
    ASSERT_EQ(lose_and_decode(code, c, lost, prng.chance(0.5)),
              any_data(lost, blocks) ? Decoded::kRestored : Decoded::kWhole);
  }
}

TEST(Erasure, UpdatesInAnyOrderGiveTheSame) {
  Prng prng(6);
  for (const auto& [k, m] : kShapes) {
    const ErasureCode code = code_of(k, m);
    std::vector<size_t> lengths(k, 515);
    lengths.back() = 78;
    Codeword c(prng, lengths, m);
    if (k == 1) c = equal_blocks(prng, k, m, 515);
    c.encode(code);
    Codeword streamed = c;
    for (Block& p : streamed.parities) std::fill(p.begin(), p.end(), uint8_t{0});
    for (const uint32_t i : draw(prng, k, k)) code.encode_update(i, c.data[i], streamed.outs());
    EXPECT_EQ(streamed.parities, c.parities) << k << ' ' << m;
  }
}

TEST(Erasure, BlocksMayStandAnywhere) {
  Prng prng(7);
  for (const auto& [k, m] : {CodeShape{4, 1}, {8, 2}, {32, 8}}) {
    const ErasureCode code = code_of(k, m);
    const Codeword c = equal_blocks(prng, k, m, 1029);
    Codeword aligned = c;
    aligned.encode(code);
    Block moved(size_t{k} * 1029 + 1), sums(size_t{m} * 1029 + 3);
    std::vector<Bytes> sources;
    std::vector<uint8_t*> outs;
    for (uint32_t i = 0; i < k; ++i) {
      std::copy(c.data[i].begin(), c.data[i].end(), &moved[1 + size_t{i} * 1029]);
      sources.push_back(Bytes(moved).subspan(1 + size_t{i} * 1029, 1029));
    }
    for (uint32_t r = 0; r < m; ++r) outs.push_back(&sums[3 + size_t{r} * 1029]);
    code.encode(sources, {outs, 1029});
    for (uint32_t r = 0; r < m; ++r) {
      EXPECT_TRUE(std::equal(outs[r], outs[r] + 1029, aligned.parities[r].begin()));
    }
  }
}

TEST(Erasure, TablesAreKeptForThePatternsUsedLast) {
  Prng prng(9);
  ErasureCode code = code_of(8, 2, 3);
  Codeword c = equal_blocks(prng, 8, 2, 64);
  c.encode(code);
  const auto decode = [&](uint32_t a, uint32_t b) {
    ASSERT_EQ(lose_and_decode(code, c, {a, b}, false), Decoded::kRestored);
  };
  for (int i = 0; i < 5; ++i) decode(0, 1);
  EXPECT_EQ(code.decode_tables().misses(), 1u);
  EXPECT_EQ(code.decode_tables().hits(), 4u);
  decode(0, 2);
  decode(0, 9);  // the same missing data, and less parity: another pattern than the next
  decode(0, 8);
  EXPECT_EQ(code.decode_tables().misses(), 4u);
  EXPECT_EQ(code.decode_tables().size(), 3u);
  decode(0, 2);
  EXPECT_EQ(code.decode_tables().hits(), 5u);
  decode(0, 1);  // had to go
  EXPECT_EQ(code.decode_tables().misses(), 5u);
  decode(0, 2);
  EXPECT_EQ(code.decode_tables().hits(), 6u);
  EXPECT_EQ(lose_and_decode(code, c, {8, 9}, true), Decoded::kWhole);
  EXPECT_EQ(code.decode_tables().misses(), 5u) << "no table for parities";
}

TEST(Erasure, AShortenedCodewordHasTablesOfItsOwn) {
  Prng prng(10);
  ErasureCode code = code_of(8, 2);
  for (const uint32_t blocks : {8u, 7u, 1u, 7u, 8u}) {
    Codeword c = equal_blocks(prng, blocks, 2, 80);
    c.encode(code);
    EXPECT_EQ(lose_and_decode(code, c, {0}, false), Decoded::kRestored);
  }
  EXPECT_EQ(code.decode_tables().misses(), 3u);
  EXPECT_EQ(code.decode_tables().hits(), 2u);
}

TEST(ErasureDeathTest, BlocksThatDoNotFitAreOurOwnBug) {
  const ErasureCode code = code_of(4, 2);
  Block data(10), parity(10);
  const std::array<uint8_t*, 2> at{parity.data(), parity.data()};
  const EqualBlocks outs{at, 9};
  EXPECT_DEATH(code.encode_update(0, data, outs), "invariant");
  EXPECT_DEATH(code.encode_update(4, Bytes(data).first(9), outs), "invariant");
  EXPECT_DEATH(code.encode_update(0, Bytes(data).first(9), {std::span(at).first(1), 9}), "invariant");
  const std::array<Bytes, 1> sources{data};
  EXPECT_DEATH(code.encode(sources, outs), "invariant");
}

}  // namespace
}  // namespace matchrdma::host
