#pragma once
#include <cstdint>
#include <string>

#include "dataplane/base/result.h"

namespace matchrdma {

/// Blocks of data and of parity in a codeword.
struct CodeOption {
  uint32_t k = 0, m = 0;
};
/// Of `--code K,M`. The error names the option and what to write.
Result<CodeOption> parse_code(const std::string& text);

}  // namespace matchrdma
