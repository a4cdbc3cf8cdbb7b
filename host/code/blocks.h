#pragma once
// Blocks of a codeword, as the erasure code is given them.
#include <cstdint>
#include <span>

#include "dataplane/base/bytes.h"

namespace matchrdma::host {

/// Blocks of one length to be written: the parities of a codeword. Pointers, because ISA-L wants them side by
/// side, and to set them up again for each of many short packets would be seen.
struct EqualBlocks {
  std::span<uint8_t* const> at;
  size_t bytes = 0;  ///< of each
};

/// A block of a codeword at the receiver. Missing data: `bytes` is where to restore it, in its true length.
/// Missing parity: where to restore it, or empty if nobody wants it.
struct CodeBlock {
  MutableBytes bytes;
  bool present = true;
};

}  // namespace matchrdma::host
