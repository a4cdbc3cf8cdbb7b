#pragma once
// Rows of a matrix over GF(2^8) times blocks of unequal length, and the XOR of such blocks.
#include <cstdint>
#include <span>

#include "dataplane/base/bytes.h"

namespace matchrdma::host {

/// Tables of ISA-L for `rows` rows of `columns` coefficients.
struct GfTables {
  const uint8_t* bytes;
  uint32_t columns, rows;
  GfTables row(uint32_t r) const { return {bytes + size_t{32} * columns * r, columns, 1}; }
};

/// outs[r] = sum of coefficient (r, i) x sources[i]. A source counts as if zeros followed it; missing sources
/// (fewer than columns) are zeros. Outputs may differ in length.
void multiply(const GfTables& tables, std::span<const Bytes> sources, std::span<const MutableBytes> outs);
/// outs[r] += coefficient (r, column) x source, over the length of the source; no output is shorter.
void multiply_add(const GfTables& tables, uint32_t column, Bytes source, std::span<const MutableBytes> outs);

/// out = XOR of the sources, each as if zeros followed it.
void xor_blocks(std::span<const Bytes> sources, MutableBytes out);
/// out ^= source, over the length of the source; `out` is not shorter.
void xor_add(Bytes source, MutableBytes out);

}  // namespace matchrdma::host
