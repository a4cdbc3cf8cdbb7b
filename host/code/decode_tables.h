#pragma once
// What a decoder multiplies with, made once for each pattern of loss.
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <vector>

namespace matchrdma::host {

/// Which data blocks of a codeword are missing, and which parities stand in for them: as many.
class ErasurePattern {
 public:
  /// Of a codeword with `data_blocks` data blocks (fewer than k if shortened).
  explicit ErasurePattern(uint32_t data_blocks) { bits_[4] = data_blocks; }

  void add_missing(uint32_t data_block) { add(data_block, missing_); }
  void add_parity(uint32_t k, uint32_t row) { add(k + row, parities_); }

  uint32_t data_blocks() const { return static_cast<uint32_t>(bits_[4]); }
  uint32_t missing() const { return missing_; }
  uint32_t parities() const { return parities_; }
  bool has(uint32_t block) const { return (bits_[block / 64] >> (block % 64) & 1) != 0; }

  auto operator<=>(const ErasurePattern& o) const { return bits_ <=> o.bits_; }
  bool operator==(const ErasurePattern& o) const { return bits_ == o.bits_; }

 private:
  void add(uint32_t block, uint32_t& count) {
    bits_[block / 64] |= uint64_t{1} << (block % 64);
    ++count;
  }
  std::array<uint64_t, 5> bits_{};  ///< block k + r is parity r; the last word is the number of data blocks
  uint32_t missing_ = 0, parities_ = 0;
};

/// Duty: keeps the tables of the patterns used last, and makes what is not there. The sources of a table are
/// the data blocks that are present, in order, then the parities of the pattern; its outputs are the missing
/// blocks in order. Does not know the blocks' bytes.
class DecodeTableCache {
 public:
  /// For the m x k `matrix` of parities, which must have no singular square part. Keeps 1 pattern at least.
  DecodeTableCache(uint32_t k, size_t capacity) : k_(k), capacity_(capacity == 0 ? 1 : capacity) {}

  /// Valid until the next call.
  std::span<uint8_t> find_or_make(const ErasurePattern& pattern, std::span<const uint8_t> matrix);

  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }
  size_t size() const { return by_pattern_.size(); }

 private:
  struct Entry {
    ErasurePattern pattern;
    std::vector<uint8_t> tables;
  };
  uint32_t k_;
  size_t capacity_;
  std::list<Entry> entries_;  ///< the last used in front
  std::map<ErasurePattern, std::list<Entry>::iterator> by_pattern_;
  uint64_t hits_ = 0, misses_ = 0;
};

}  // namespace matchrdma::host
