#pragma once
#include <cstdint>

namespace matchrdma {
/// When a work request may complete at the sender (PROTOCOL 4, C7).
enum class Completion : uint8_t { kTransparent, kEarly, kEndToEnd };
}  // namespace matchrdma
