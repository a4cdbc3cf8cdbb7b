#pragma once
#include <charconv>
#include <string_view>

#include "dataplane/base/bytes.h"

namespace matchrdma {

/// Fills `out` from two hexadecimal digits for each of its bytes; false, and `out` partly written, where `text`
/// is anything else. Into the caller's memory: keys are not left behind in another one.
inline bool decode_hex(std::string_view text, MutableBytes out) {
  if (text.size() != 2 * out.size()) return false;
  for (size_t i = 0; i < out.size(); ++i) {
    const char* const at = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(at, at + 2, out[i], 16);
    if (error != std::errc{} || end != at + 2) return false;
  }
  return true;
}

}  // namespace matchrdma
