#pragma once
// What matchrdma-xfer moves, and how it is known again.
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dataplane/base/bytes.h"
#include "dataplane/base/result.h"

namespace matchrdma {

using Digest = std::array<uint8_t, 32>;

/// SHA-256. `between` is called now and then: a long one must not silence the caller's connections.
Digest sha256(
    Bytes bytes, const std::function<void()>& between = [] {});
std::string digest_text(const Digest& d);

/// The file, or where none is named so many bytes made of the seed.
Result<std::vector<uint8_t>> bytes_to_move(const std::string& file, uint64_t made, uint64_t seed);

}  // namespace matchrdma
