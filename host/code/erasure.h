#pragma once
// Erasure code of k data and m parity blocks: any k of the k + m give back the rest (HOST.md sdr, C9 to C11).
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/base/bytes.h"
#include "dataplane/base/result.h"
#include "host/code/blocks.h"
#include "host/code/decode_tables.h"

namespace matchrdma::host {

enum class Decoded : uint8_t {
  kWhole,           ///< no data was missing
  kRestored,        ///< all data is here now
  kTooManyMissing,  ///< fewer than k blocks are here; nothing was written
};

/// Duty: parities of data blocks, and missing blocks from what is left. The matrix is a Cauchy matrix, of which
/// every square part can be inverted; with m = 1 the parity is the XOR of the data. Does not know packets,
/// chunks or messages.
///
/// Lengths. The data blocks of a codeword may differ in length, 1 byte at least: a shorter one counts as if
/// zeros followed, which nobody stores: nothing is read or written outside a block. All parities are as long as
/// the longest data block. A codeword may have fewer than k data blocks (shortened): those that are not there
/// count as zeros, cost nothing, and may not be counted on when blocks are lost: m of those sent can be.
class ErasureCode {
 public:
  static constexpr uint32_t kMaxBlocks =
      255;  ///< k + m: elements of GF(2^8) that a row or column can be named by
  /// Patterns of loss whose tables are kept. One takes 32 bytes x missing x k: at (32,8) 1 KiB for each missing
  /// block, so 8 MiB at the very most. With 1 % loss there are 32 patterns of one and 528 of two in 32.
  static constexpr size_t kCachedPatterns = 1024;

  static Result<ErasureCode> make(uint32_t k, uint32_t m, size_t cached_patterns = kCachedPatterns);

  uint32_t k() const { return k_; }
  uint32_t m() const { return m_; }

  /// Parities of 1 to k data blocks. Overwrites all m `parities`.
  void encode(std::span<const Bytes> data, const EqualBlocks& parities) const;
  /// Adds data block `index` to parities that were zeros in the beginning, in any order, each block once.
  /// Parities may be longer than the block. Blocks that are zeros need not be added.
  void encode_update(uint32_t index, Bytes data, const EqualBlocks& parities) const;

  /// Restores the missing ones of 1 to k data blocks and the wanted ones of the m parities.
  Decoded decode(std::span<const CodeBlock> data, std::span<const CodeBlock> parities);

  const DecodeTableCache& decode_tables() const { return cache_; }

 private:
  ErasureCode(uint32_t k, uint32_t m, size_t cached_patterns);
  void restore_data(std::span<const CodeBlock> data, std::span<const CodeBlock> parities,
                    const ErasurePattern& pattern);
  void restore_parities(std::span<const CodeBlock> data, std::span<const CodeBlock> parities);

  uint32_t k_, m_;
  std::vector<uint8_t> matrix_;  ///< m x k coefficients
  std::vector<uint8_t> tables_;  ///< the same as ISA-L wants them
  DecodeTableCache cache_;
  std::vector<Bytes> sources_;  ///< of the codeword that is being decoded
  std::vector<uint8_t*> outs_;  ///< its missing data
};

}  // namespace matchrdma::host
