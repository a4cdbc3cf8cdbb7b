#pragma once
// GF(2^8) and the matrix of the code as a test knows them, and patterns of loss.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "dataplane/base/prng.h"

namespace matchrdma::host::test {

struct CodeShape {
  uint32_t k, m;
};

// GF(2^8) by its definition, x^8 + x^4 + x^3 + x^2 + 1: shares nothing with ISA-L.
inline uint8_t times(uint8_t a, uint8_t b) {
  uint32_t product = 0;
  for (int bit = 0; bit < 8; ++bit) {
    if ((b >> bit & 1) != 0) product ^= uint32_t{a} << bit;
  }
  for (int bit = 15; bit >= 8; --bit) {
    if ((product >> bit & 1) != 0) product ^= 0x11du << (bit - 8);
  }
  return static_cast<uint8_t>(product);
}
inline uint8_t inverse_of(uint8_t a) {
  uint8_t power = 1;
  for (int i = 0; i < 254; ++i) power = times(power, a);
  return power;
}

/// What the code says of itself: 1 / (row + column) with rows named from k on; ones for XOR.
inline std::vector<uint8_t> cauchy(uint32_t k, uint32_t m) {
  std::vector<uint8_t> a;
  for (uint32_t r = k; r < k + m; ++r) {
    for (uint32_t c = 0; c < k; ++c) a.push_back(m == 1 ? 1 : inverse_of(static_cast<uint8_t>(r ^ c)));
  }
  return a;
}

inline bool singular(std::vector<uint8_t> a, size_t n) {
  for (size_t c = 0; c < n; ++c) {
    size_t pivot = c;
    while (pivot < n && a[pivot * n + c] == 0) ++pivot;
    if (pivot == n) return true;
    std::swap_ranges(&a[pivot * n], &a[pivot * n] + n, &a[c * n]);
    const uint8_t scale = inverse_of(a[c * n + c]);
    for (size_t r = c + 1; r < n; ++r) {
      const uint8_t factor = times(a[r * n + c], scale);
      for (size_t j = c; j < n; ++j) a[r * n + j] ^= times(factor, a[c * n + j]);
    }
  }
  return false;
}

/// `n` different ones of 0 to `of` - 1.
inline std::vector<uint32_t> draw(Prng& prng, uint32_t of, uint32_t n) {
  std::vector<uint32_t> all(of);
  std::iota(all.begin(), all.end(), 0u);
  for (uint32_t i = 0; i < n; ++i) std::swap(all[i], all[i + prng.below(of - i)]);
  all.resize(n);
  return all;
}

}  // namespace matchrdma::host::test
