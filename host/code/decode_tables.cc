#include "host/code/decode_tables.h"

#include <isa-l/erasure_code.h>

#include "dataplane/base/check.h"

namespace matchrdma::host {
namespace {

constexpr size_t kTableBytes = 32;  // of ISA-L, for each coefficient

struct Positions {
  std::vector<uint32_t> present, missing, parities;
};

Positions positions(const ErasurePattern& pattern, uint32_t k, uint32_t m) {
  Positions p;
  for (uint32_t i = 0; i < pattern.data_blocks(); ++i) (pattern.has(i) ? p.missing : p.present).push_back(i);
  for (uint32_t r = 0; r < m; ++r) {
    if (pattern.has(k + r)) p.parities.push_back(r);
  }
  MRDMA_CHECK(p.missing.size() == p.parities.size());
  return p;
}

/// A parity less what the present data gave to it is a combination of the missing blocks alone: the square part
/// of the matrix at the parities' rows and the missing columns. Its inverse gives the missing blocks. The part
/// is as small as the number of missing blocks, so this is far cheaper than inverting k x k.
std::vector<uint8_t> make_tables(const ErasurePattern& pattern, uint32_t k, std::span<const uint8_t> matrix) {
  const Positions at = positions(pattern, k, static_cast<uint32_t>(matrix.size()) / k);
  const size_t n = at.missing.size(), present = at.present.size(), sources = present + n;
  std::vector<uint8_t> part(n * n), inverse(n * n), coefficients(n * sources),
      tables(n * sources * kTableBytes);
  for (size_t p = 0; p < n; ++p) {
    for (size_t d = 0; d < n; ++d) part[p * n + d] = matrix[at.parities[p] * k + at.missing[d]];
  }
  const int singular = gf_invert_matrix(part.data(), inverse.data(), static_cast<int>(n));
  MRDMA_CHECK(singular == 0);
  for (size_t d = 0; d < n; ++d) {
    uint8_t* row = &coefficients[d * sources];
    for (size_t p = 0; p < n; ++p) {
      const uint8_t* parity = &matrix[at.parities[p] * k];
      const uint8_t factor = inverse[d * n + p];
      for (size_t j = 0; j < present; ++j) row[j] ^= gf_mul(factor, parity[at.present[j]]);
      row[present + p] = factor;
    }
  }
  ec_init_tables(static_cast<int>(sources), static_cast<int>(n), coefficients.data(), tables.data());
  return tables;
}

}  // namespace

std::span<uint8_t> DecodeTableCache::find_or_make(const ErasurePattern& pattern,
                                                  std::span<const uint8_t> matrix) {
  if (const auto found = by_pattern_.find(pattern); found != by_pattern_.end()) {
    ++hits_;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->tables;
  }
  ++misses_;
  if (by_pattern_.size() >= capacity_) {
    by_pattern_.erase(entries_.back().pattern);
    entries_.pop_back();
  }
  entries_.push_front({pattern, make_tables(pattern, k_, matrix)});
  by_pattern_.emplace(pattern, entries_.begin());
  return entries_.front().tables;
}

}  // namespace matchrdma::host
