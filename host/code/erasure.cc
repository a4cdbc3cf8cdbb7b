#include "host/code/erasure.h"

#include <isa-l/erasure_code.h>

#include <algorithm>
#include <array>
#include <string>

#include "host/code/gf_rows.h"

namespace matchrdma::host {
namespace {

/// No more blocks than the code has; every data block has bytes, none more than the parities.
void check_data(std::span<const Bytes> data, uint32_t k, size_t parity_bytes) {
  MRDMA_CHECK(!data.empty() && data.size() <= k);
  for (const Bytes& d : data) MRDMA_CHECK(!d.empty() && d.size() <= parity_bytes);
}

}  // namespace

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
  if (m_ == 1) return;
  // Not gf_gen_rs_matrix: some square parts of its matrix are singular (docs/decisions/0023-erasure-code.md).
  std::vector<uint8_t> with_identity(size_t{k + m} * k);
  gf_gen_cauchy1_matrix(with_identity.data(), static_cast<int>(k + m), static_cast<int>(k));
  std::copy(with_identity.begin() + size_t{k} * k, with_identity.end(), matrix_.begin());
  ec_init_tables(static_cast<int>(k), static_cast<int>(m), matrix_.data(), tables_.data());
}

void ErasureCode::encode(std::span<const Bytes> data, std::span<const MutableBytes> parities) const {
  MRDMA_CHECK(parities.size() == m_);
  check_data(data, k_, parities.front().size());
  if (m_ == 1) return xor_blocks(data, parities.front());
  multiply({tables_.data(), k_, m_}, data, parities);
}

void ErasureCode::encode_row(uint32_t row, std::span<const Bytes> data, MutableBytes parity) const {
  if (m_ == 1) return xor_blocks(data, parity);
  multiply(GfTables{tables_.data(), k_, m_}.row(row), data, {&parity, 1});
}

void ErasureCode::encode_update(uint32_t index, Bytes data, std::span<const MutableBytes> parities) const {
  MRDMA_CHECK(index < k_ && parities.size() == m_ && !data.empty());
  if (m_ == 1) return xor_add(data, parities.front());
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
  std::array<Bytes, kMaxBlocks> sources;
  std::array<MutableBytes, kMaxBlocks> outs;
  size_t n = 0, missing = 0, longest = 0;
  for (const CodeBlock& d : data) {
    longest = std::max(longest, d.bytes.size());
    if (d.present) {
      sources[n++] = d.bytes;
    } else {
      outs[missing++] = d.bytes;
    }
  }
  for (uint32_t r = 0; r < m_; ++r) {
    if (!pattern.has(k_ + r)) continue;
    MRDMA_CHECK(parities[r].bytes.size() >= longest);
    sources[n++] = parities[r].bytes;
  }
  if (m_ == 1) return xor_blocks(std::span(sources).first(n), outs[0]);
  const auto tables = cache_.find_or_make(pattern, matrix_);
  multiply({tables.data(), static_cast<uint32_t>(n), static_cast<uint32_t>(missing)},
           std::span(sources).first(n), std::span(outs).first(missing));
}

void ErasureCode::restore_parities(std::span<const CodeBlock> data, std::span<const CodeBlock> parities) const {
  const auto wanted = [](const CodeBlock& p) { return !p.present && !p.bytes.empty(); };
  if (std::none_of(parities.begin(), parities.end(), wanted)) return;
  std::array<Bytes, kMaxBlocks> sources;
  for (size_t i = 0; i < data.size(); ++i) sources[i] = data[i].bytes;
  const auto all = std::span<const Bytes>(sources).first(data.size());
  for (uint32_t r = 0; r < m_; ++r) {
    if (wanted(parities[r])) encode_row(r, all, parities[r].bytes);
  }
}

}  // namespace matchrdma::host
