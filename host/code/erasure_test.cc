#include "host/code/erasure.h"

#include <gtest/gtest.h>
#include <isa-l/erasure_code.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "dataplane/base/prng.h"

namespace matchrdma::host {
namespace {

using Block = std::vector<uint8_t>;

// GF(2^8) by its definition, x^8 + x^4 + x^3 + x^2 + 1: shares nothing with ISA-L.
uint8_t times(uint8_t a, uint8_t b) {
  uint32_t product = 0;
  for (int bit = 0; bit < 8; ++bit) {
    if ((b >> bit & 1) != 0) product ^= uint32_t{a} << bit;
  }
  for (int bit = 15; bit >= 8; --bit) {
    if ((product >> bit & 1) != 0) product ^= 0x11du << (bit - 8);
  }
  return static_cast<uint8_t>(product);
}
uint8_t inverse_of(uint8_t a) {
  uint8_t power = 1;
  for (int i = 0; i < 254; ++i) power = times(power, a);
  return power;
}

/// What the code says of itself: 1 / (row + column) with rows named from k on; ones for XOR.
std::vector<uint8_t> cauchy(uint32_t k, uint32_t m) {
  std::vector<uint8_t> a;
  for (uint32_t r = k; r < k + m; ++r) {
    for (uint32_t c = 0; c < k; ++c) a.push_back(m == 1 ? 1 : inverse_of(static_cast<uint8_t>(r ^ c)));
  }
  return a;
}

bool singular(std::vector<uint8_t> a, size_t n) {
  for (size_t c = 0; c < n; ++c) {
    size_t pivot = c;
    while (pivot < n && a[pivot * n + c] == 0) ++pivot;
    if (pivot == n) return true;
    std::swap_ranges(&a[pivot * n], &a[pivot * n] + n, &a[c * n]);
    const uint8_t scale = inverse_of(a[c * n + c]);
    for (size_t r = c + 1; r < n; ++r) {
      const uint8_t factor = times(a[r * n + c], scale);
      for (size_t j = c; j < n; ++j) a[r * n + j] ^= times(factor, a[c * n + j]);
    }
  }
  return false;
}

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
  std::vector<MutableBytes> outs() { return {parities.begin(), parities.end()}; }
  void encode(const ErasureCode& code) { code.encode(sources(), outs()); }
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

std::vector<uint32_t> draw(Prng& prng, uint32_t of, uint32_t n) {
  std::vector<uint32_t> all(of);
  std::iota(all.begin(), all.end(), 0u);
  for (uint32_t i = 0; i < n; ++i) std::swap(all[i], all[i + prng.below(of - i)]);
  all.resize(n);
  return all;
}

bool any_data(const std::vector<uint32_t>& lost, size_t data_blocks) {
  return std::any_of(lost.begin(), lost.end(), [&](uint32_t i) { return i < data_blocks; });
}

ErasureCode code_of(uint32_t k, uint32_t m, size_t cached = ErasureCode::kCachedPatterns) {
  return ErasureCode::make(k, m, cached).value();
}

struct Shape {
  uint32_t k, m;
};
constexpr std::array<Shape, 14> kShapes{{{1, 1},
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
       {Shape{0, 1}, {1, 0}, {0, 0}, {248, 8}, {255, 1}, {UINT32_MAX, 1}, {1, UINT32_MAX}}) {
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

TEST(Erasure, RestoresEveryPatternOfSmallCodes) {
  Prng prng(3);
  for (const auto& [k, m] : {Shape{1, 1}, {2, 1}, {4, 1}, {2, 2}, {3, 3}, {8, 2}, {5, 4}, {1, 6}}) {
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
    const Shape s = kShapes[prng.below(11)];
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
  for (const auto& [k, m] : {Shape{4, 1}, {8, 2}, {32, 8}}) {
    const ErasureCode code = code_of(k, m);
    const Codeword c = equal_blocks(prng, k, m, 1029);
    Codeword aligned = c;
    aligned.encode(code);
    Block moved(size_t{k} * 1029 + 1), sums(size_t{m} * 1029 + 3);
    std::vector<Bytes> sources;
    std::vector<MutableBytes> outs;
    for (uint32_t i = 0; i < k; ++i) {
      std::copy(c.data[i].begin(), c.data[i].end(), &moved[1 + size_t{i} * 1029]);
      sources.push_back(Bytes(moved).subspan(1 + size_t{i} * 1029, 1029));
    }
    for (uint32_t r = 0; r < m; ++r) outs.push_back(MutableBytes(sums).subspan(3 + size_t{r} * 1029, 1029));
    code.encode(sources, outs);
    for (uint32_t r = 0; r < m; ++r) {
      EXPECT_TRUE(std::equal(outs[r].begin(), outs[r].end(), aligned.parities[r].begin()));
    }
  }
}

// Law of a Cauchy matrix: every square part can be inverted, so any m losses can be mended.
TEST(Erasure, NoSquarePartOfTheMatrixIsSingular) {
  for (const auto& [k, m] : {Shape{2, 2}, {3, 3}, {5, 4}, {8, 3}, {10, 4}}) {
    const std::vector<uint8_t> a = cauchy(k, m);
    for (uint32_t rows = 1; rows < 1u << m; ++rows) {
      for (uint32_t columns = 1; columns < 1u << k; ++columns) {
        if (std::popcount(rows) != std::popcount(columns)) continue;
        std::vector<uint8_t> part;
        for (uint32_t i = 0; i < m * k; ++i) {
          if ((rows >> i / k & columns >> i % k & 1) != 0) part.push_back(a[i]);
        }
        ASSERT_FALSE(singular(part, std::popcount(rows))) << k << ' ' << m << ' ' << rows << ' ' << columns;
      }
    }
  }
}

// Why not the other matrix of ISA-L (docs/decisions/0023-erasure-code.md): powers of 2 in the rows.
TEST(Erasure, TheOtherMatrixOfIsalHasSingularPatterns) {
  constexpr uint32_t kK = 32, kM = 8, kPatterns = 50'000;
  std::vector<uint8_t> powers((kK + kM) * kK), ours(powers.size());
  gf_gen_rs_matrix(powers.data(), kK + kM, kK);
  gf_gen_cauchy1_matrix(ours.data(), kK + kM, kK);
  Prng prng(8);
  std::array<uint32_t, 2> failed{};
  for (uint32_t i = 0; i < kPatterns; ++i) {
    const std::vector<uint32_t> lost = draw(prng, kK + kM, kM);
    std::vector<uint32_t> columns, rows;
    for (const uint32_t l : lost) {
      if (l < kK) columns.push_back(l);
    }
    for (uint32_t r = kK; r < kK + kM; ++r) {
      if (std::find(lost.begin(), lost.end(), r) == lost.end()) rows.push_back(r);
    }
    const size_t n = columns.size();
    std::array<uint8_t, kM * kM> inverse{};
    for (const bool cauchy_one : {false, true}) {
      std::array<uint8_t, kM * kM> part{};
      for (size_t x = 0; x < n * n; ++x) {
        part[x] = (cauchy_one ? ours : powers)[rows[x / n] * kK + columns[x % n]];
      }
      failed[cauchy_one] += gf_invert_matrix(part.data(), inverse.data(), static_cast<int>(n)) != 0;
    }
  }
  EXPECT_GT(failed[0], kPatterns / 1000);
  EXPECT_EQ(failed[1], 0u);
  RecordProperty("singular", static_cast<int>(failed[0]));
  std::printf("of %u patterns of 8 lost in (32,8) %u cannot be mended with gf_gen_rs_matrix\n", kPatterns,
              failed[0]);
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
  Block data(10), parity(9);
  const std::array<MutableBytes, 2> outs{parity, parity};
  EXPECT_DEATH(code.encode_update(0, data, outs), "invariant");
  EXPECT_DEATH(code.encode_update(4, Bytes(data).first(9), outs), "invariant");
  const std::array<Bytes, 1> sources{data};
  EXPECT_DEATH(code.encode(sources, outs), "invariant");
}

}  // namespace
}  // namespace matchrdma::host
