#pragma once
// jemalloc's size classes from 64 bytes on: four to each doubling. The heap computes them itself, to know at
// free() what it gave without asking jemalloc's tree; a test compares each with jemalloc's own.
#include <bit>
#include <cstddef>
#include <cstdint>

namespace matchrdma::host {

inline constexpr size_t kSmallest = 64;    ///< a cache line; smaller requests get one
inline constexpr uint8_t kLastClass = 62;  ///< 2.5 MiB
inline constexpr uint8_t kBeyond = 63;     ///< larger: only jemalloc knows
inline constexpr size_t kLastClassSize = size_t{5} << 19;

/// 1 to 62, or 63: six bits, and never 0.
inline uint8_t size_class(size_t size) {
  if (size <= kSmallest) return 1;
  if (size > kLastClassSize) return kBeyond;
  const size_t last = size - 1;
  const unsigned doubling = static_cast<unsigned>(std::bit_width(last)) - 1;
  return static_cast<uint8_t>((doubling - 6) * 4 + ((last >> (doubling - 2)) & 3) + 2);
}

/// The largest request of a class of 1 to 62.
inline size_t class_size(uint8_t c) {
  if (c == 1) return kSmallest;
  const unsigned doubling = (c - 2u) / 4 + 6, quarter = (c - 2u) % 4 + 1;
  return (size_t{1} << doubling) + (size_t{quarter} << (doubling - 2));
}

}  // namespace matchrdma::host
