// The matrices that a code could be made of.
#include <gtest/gtest.h>
#include <isa-l/erasure_code.h>

#include <array>
#include <bit>
#include <cstdio>
#include <vector>

#include "host/code/test_gf.h"

namespace matchrdma::host {
namespace {

using test::cauchy;
using test::CodeShape;
using test::draw;
using test::singular;

// Law of a Cauchy matrix: every square part can be inverted, so any m losses can be mended.
TEST(Matrix, NoSquarePartOfACauchyMatrixIsSingular) {
  for (const auto& [k, m] : {CodeShape{2, 2}, {3, 3}, {5, 4}, {8, 3}, {10, 4}}) {
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
TEST(Matrix, TheOtherMatrixOfIsalHasSingularPatterns) {
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

}  // namespace
}  // namespace matchrdma::host
