#pragma once
// Memory that will be written soon.
#include <cstddef>
#include <cstdint>

namespace matchrdma {

inline constexpr uint32_t kCacheLine = 64;

/// The first cache lines of an object.
inline void prefetch_lines(const void* object, size_t lines) {
  const char* at = static_cast<const char*>(object);
  for (size_t i = 0; i < lines; ++i) __builtin_prefetch(at + i * kCacheLine, 1);
}

}  // namespace matchrdma
