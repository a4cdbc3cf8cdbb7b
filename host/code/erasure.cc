#include "host/code/erasure.h"

#include <isa-l/erasure_code.h>

#include <algorithm>
#include <string>

#include "host/code/gf_rows.h"

namespace matchrdma::host {
Result<ErasureCode> ErasureCode::make(uint32_t k, uint32_t m, size_t cached_patterns) {
  if (k < 1 || m < 1 || k > kMaxBlocks || m > kMaxBlocks || k + m > kMaxBlocks) {
    return Error{"an erasure code of " + std::to_string(k) + " data and " + std::to_string(m) +
                 " parity blocks does not exist: choose 1 of each at least and " + std::to_string(kMaxBlocks) +
                 " together at most"};
  }
  return ErasureCode(k, m, cached_patterns);
}

ErasureCode::ErasureCode(uint32_t k, uint32_t m, size_t cached_patterns)
    : k_(k), m_(m), matrix_(size_t{m} * k, 1), tables_(size_t{32} * m * k), cache_(k, cached_patterns) {
  if (m_ > 1) {
    // Not gf_gen_rs_matrix: some square parts of its matrix are singular (docs/decisions/0023-erasure-code.md).
    std::vector<uint8_t> with_identity(size_t{k + m} * k);
    gf_gen_cauchy1_matrix(with_identity.data(), static_cast<int>(k + m), static_cast<int>(k));
    std::copy(with_identity.begin() + size_t{k} * k, with_identity.end(), matrix_.begin());
  }
  ec_init_tables(static_cast<int>(k), static_cast<int>(m), matrix_.data(), tables_.data());
}

void ErasureCode::encode(std::span<const Bytes> data, const EqualBlocks& parities) const {
  MRDMA_CHECK(!data.empty() && parities.at.size() == m_);
  if (m_ == 1 && xor_aligned(data, {parities.at[0], parities.bytes})) return;
  const size_t longest = multiply({tables_.data(), k_, m_}, data, parities);
  MRDMA_CHECK(longest <= parities.bytes);
}

void ErasureCode::encode_update(uint32_t index, Bytes data, const EqualBlocks& parities) const {
  multiply_add({tables_.data(), k_, m_}, index, data, parities);
}

Decoded ErasureCode::decode(std::span<const CodeBlock> data, std::span<const CodeBlock> parities) {
  MRDMA_CHECK(!data.empty() && data.size() <= k_ && parities.size() == m_);
  ErasurePattern pattern(static_cast<uint32_t>(data.size()));
  for (uint32_t i = 0; i < data.size(); ++i) {
    MRDMA_CHECK(!data[i].bytes.empty());
    if (!data[i].present) pattern.add_missing(i);
  }
  for (uint32_t r = 0; r < m_ && pattern.parities() < pattern.missing(); ++r) {
    if (parities[r].present) pattern.add_parity(k_, r);
  }
  if (pattern.parities() < pattern.missing()) return Decoded::kTooManyMissing;
  if (pattern.missing() > 0) restore_data(data, parities, pattern);
  restore_parities(data, parities);
  return pattern.missing() > 0 ? Decoded::kRestored : Decoded::kWhole;
}

void ErasureCode::restore_data(std::span<const CodeBlock> data, std::span<const CodeBlock> parities,
                               const ErasurePattern& pattern) {
  sources_.clear();
  outs_.clear();
  const auto is_missing = [](const CodeBlock& d) { return !d.present; };
  const size_t out_bytes = std::find_if(data.begin(), data.end(), is_missing)->bytes.size();
  size_t longest = 0;
  bool alike = true;  // of one length
  for (const CodeBlock& d : data) {
    longest = std::max(longest, d.bytes.size());
    if (d.present) {
      sources_.push_back(d.bytes);
    } else {
      alike = alike && d.bytes.size() == out_bytes;
      outs_.push_back(d.bytes.data());
    }
  }
  for (uint32_t r = 0; r < m_; ++r) {
    if (!pattern.has(k_ + r)) continue;
    MRDMA_CHECK(parities[r].bytes.size() >= longest);
    sources_.push_back(parities[r].bytes);
  }
  // Of all k + 1 blocks of an XOR the sum is zero: each is that of the others.
  if (m_ == 1 && xor_aligned(sources_, {outs_[0], out_bytes})) return;
  const GfTables tables = m_ == 1 ? GfTables{tables_.data(), k_, 1}
                                  : GfTables{cache_.find_or_make(pattern, matrix_).data(),
                                             static_cast<uint32_t>(data.size()), pattern.missing()};
  if (alike) {
    multiply(tables, sources_, {outs_, out_bytes});
    return;
  }
  for (uint32_t d = 0, row = 0; d < data.size(); ++d) {
    if (data[d].present) continue;
    multiply(tables.row(row), sources_, {{&outs_[row], 1}, data[d].bytes.size()});
    ++row;
  }
}

void ErasureCode::restore_parities(std::span<const CodeBlock> data, std::span<const CodeBlock> parities) {
  const auto wanted = [](const CodeBlock& p) { return !p.present && !p.bytes.empty(); };
  if (std::none_of(parities.begin(), parities.end(), wanted)) return;
  sources_.clear();
  for (const CodeBlock& d : data) sources_.push_back(d.bytes);
  for (uint32_t r = 0; r < m_; ++r) {
    if (!wanted(parities[r])) continue;
    uint8_t* const out = parities[r].bytes.data();
    multiply(GfTables{tables_.data(), k_, m_}.row(r), sources_, {{&out, 1}, parities[r].bytes.size()});
  }
}

}  // namespace matchrdma::host
