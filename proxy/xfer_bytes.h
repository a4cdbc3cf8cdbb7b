#pragma once
// What matchrdma-xfer moves, and how it is known again.
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/base/bytes.h"
#include "dataplane/base/result.h"
#include "host/code/hadamard.h"

namespace matchrdma {

using Digest = std::array<uint8_t, 32>;

/// SHA-256. `between` is called now and then: a long one must not silence the caller's connections.
Digest sha256(
    Bytes bytes, const std::function<void()>& between = [] {});
std::string digest_text(const Digest& d);

/// What is made up where no file is named.
struct MadeUp {
  uint64_t bytes = 0, seed = 0;
  std::optional<host::ElementType> numbers;  ///< of this type, most of them small, as gradients are
};
Result<std::vector<uint8_t>> bytes_to_move(const std::string& file, const MadeUp& made);

/// Root mean square of what is off, as a part of that of the numbers sent.
double relative_error(host::ElementType type, Bytes sent, Bytes came);

}  // namespace matchrdma
