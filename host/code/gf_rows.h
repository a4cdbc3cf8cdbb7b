#pragma once
// Rows of a matrix over GF(2^8) times blocks of unequal length, and the XOR of blocks of one length.
#include <isa-l/erasure_code.h>

#include <climits>
#include <cstdint>
#include <span>

#include "host/code/blocks.h"

namespace matchrdma::host {

/// Tables of ISA-L for `rows` rows of `columns` coefficients.
struct GfTables {
  const uint8_t* bytes;
  uint32_t columns, rows;
  GfTables row(uint32_t r) const { return {bytes + size_t{32} * columns * r, columns, 1}; }
};

/// ISA-L takes everything as pointers to what may be written; it writes to the outputs alone.
inline uint8_t* isal_pointer(const uint8_t* p) { return const_cast<uint8_t*>(p); }
inline int isal_length(size_t bytes) {
  MRDMA_CHECK(bytes <= INT_MAX);
  return static_cast<int>(bytes);
}

/// outs.at[r] = sum of coefficient (r, i) x sources[i]. A source counts as if zeros followed it; missing
/// sources (fewer than columns) are zeros; what a source has beyond the outputs is left out. Returns the length
/// of the longest source.
size_t multiply(const GfTables& tables, std::span<const Bytes> sources, const EqualBlocks& outs);

/// outs.at[r] += coefficient (r, column) x source, over the length of the source; the outputs are not shorter.
/// Short packets take so little time that a call more would be seen: it stands here.
[[gnu::always_inline]] inline void multiply_add(const GfTables& tables, uint32_t column, Bytes source,
                                                const EqualBlocks& outs) {
  MRDMA_CHECK(column < tables.columns && outs.at.size() == tables.rows && source.size() <= outs.bytes);
  ec_encode_data_update(isal_length(source.size()), static_cast<int>(tables.columns),
                        static_cast<int>(tables.rows), static_cast<int>(column), isal_pointer(tables.bytes),
                        isal_pointer(source.data()), const_cast<uint8_t**>(outs.at.data()));
}

/// out = XOR of the sources, three times as fast as multiply() with ones. False, and nothing is written, unless
/// all are of one length and at multiples of 32 bytes.
bool xor_aligned(std::span<const Bytes> sources, MutableBytes out);

}  // namespace matchrdma::host
