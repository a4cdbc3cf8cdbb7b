#include "host/code/gf_rows.h"

#include <isa-l/raid.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace matchrdma::host {
namespace {

/// ISA-L's XOR wants memory at multiples of 32 bytes.
bool aligned(const uint8_t* p) { return std::bit_cast<uintptr_t>(p) % 32 == 0; }

/// What is left of multiply() from `front` on, block by block.
void multiply_rest(const GfTables& tables, std::span<const Bytes> sources, const EqualBlocks& outs,
                   size_t front) {
  std::array<uint8_t*, 256> at;
  const EqualBlocks rest{std::span(at).first(outs.at.size()), outs.bytes - front};
  for (size_t r = 0; r < rest.at.size(); ++r) {
    at[r] = outs.at[r] + front;
    std::memset(at[r], 0, rest.bytes);
  }
  for (uint32_t i = 0; i < sources.size(); ++i) {
    const Bytes more = sources[i].subspan(std::min(front, sources[i].size()));
    if (!more.empty()) multiply_add(tables, i, more.first(std::min(more.size(), rest.bytes)), rest);
  }
}

}  // namespace

size_t multiply(const GfTables& tables, std::span<const Bytes> sources, const EqualBlocks& outs) {
  MRDMA_CHECK(sources.size() <= tables.columns && tables.columns < 256);
  MRDMA_CHECK(outs.at.size() == tables.rows && tables.rows < 256);
  std::array<uint8_t*, 256> from;
  size_t shortest = outs.bytes, longest = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    from[i] = isal_pointer(sources[i].data());
    shortest = std::min(shortest, sources[i].size());
    longest = std::max(longest, sources[i].size());
  }
  // Where all columns are there, one pass gives what all blocks have.
  const size_t front = sources.size() == tables.columns ? shortest : 0;
  if (front > 0) {
    ec_encode_data(isal_length(front), static_cast<int>(tables.columns), static_cast<int>(tables.rows),
                   isal_pointer(tables.bytes), from.data(), const_cast<uint8_t**>(outs.at.data()));
  }
  if (front < outs.bytes) multiply_rest(tables, sources, outs, front);
  return longest;
}

bool xor_aligned(std::span<const Bytes> sources, MutableBytes out) {
  MRDMA_CHECK(sources.size() < 256);
  std::array<void*, 256> all;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].size() != out.size() || !aligned(sources[i].data())) return false;
    all[i] = isal_pointer(sources[i].data());
  }
  all[sources.size()] = out.data();
  return sources.size() > 1 && aligned(out.data()) &&
         xor_gen(static_cast<int>(sources.size() + 1), isal_length(out.size()), all.data()) == 0;
}

}  // namespace matchrdma::host
