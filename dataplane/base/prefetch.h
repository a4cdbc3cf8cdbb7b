#pragma once
// Memory that will be read or written soon.
#include <cstddef>
#include <cstdint>

namespace matchrdma {

inline constexpr uint32_t kCacheLine = 64;

inline void prefetch_line(const void* at) {
  __builtin_prefetch(at, 1);
  asm volatile(
      "");  // GCC takes a function that only prefetches for one without effects, and leaves out its calls
}

/// The first cache lines of an object.
inline void prefetch_lines(const void* object, size_t lines) {
  const char* at = static_cast<const char*>(object);
  for (size_t i = 0; i < lines; ++i) prefetch_line(at + i * kCacheLine);
}

}  // namespace matchrdma
