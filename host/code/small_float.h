#pragma once
// bf16 and f16 (IEEE 754 binary16) from and to float, rounded to the nearest, ties to even. Only finite floats
// go in; what is too large for the type comes out as infinity.
#include <bit>
#include <cstdint>

namespace matchrdma::host {

inline float from_bf16(uint16_t h) { return std::bit_cast<float>(uint32_t{h} << 16); }

inline uint16_t to_bf16(float f) {
  const auto u = std::bit_cast<uint32_t>(f);
  return static_cast<uint16_t>((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}

inline float from_f16(uint16_t h) {
  constexpr uint32_t kRebias = (127 - 15) << 23;
  const uint32_t magnitude = (h & 0x7fffu) << 13, exponent = magnitude & (0x1fu << 23);
  const uint32_t sign = (h & 0x8000u) << 16;
  uint32_t u = magnitude + kRebias;
  if (exponent == 0x1fu << 23) u += kRebias;  // infinity, NaN
  if (exponent == 0) {
    // Subnormal: the mantissa counts 2^-24; as the mantissa of a number above 2^-14 it does too.
    const float f = std::bit_cast<float>(u + (1u << 23)) - 0x1p-14f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(f) | sign);
  }
  return std::bit_cast<float>(u | sign);
}

inline uint16_t to_f16(float f) {
  const auto u = std::bit_cast<uint32_t>(f);
  const uint32_t magnitude = u & 0x7fffffff;
  uint32_t h;
  if (magnitude >= 0x47800000) {  // 65536
    h = 0x7c00;
  } else if (magnitude < 0x38800000) {  // 2^-14: subnormal, rounded by an addition whose last bit counts 2^-24
    h = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  } else {
    h = (magnitude - ((127u - 15u) << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  }
  return static_cast<uint16_t>(h | ((u >> 16) & 0x8000));
}

}  // namespace matchrdma::host
