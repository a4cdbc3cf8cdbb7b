#pragma once
// Files with a shared secret.
#include <string>

#include "config/config.h"
#include "dataplane/base/result.h"

namespace matchrdma {

/// 32 secret bytes of a file that only its owner may read and that belongs to root or to who runs this: 64 hex
/// digits and at most one line end, or the bytes themselves.
Result<KeyBytes> read_key_file(const std::string& path);

}  // namespace matchrdma
