#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dataplane/base/result.h"

namespace matchrdma {

using PskByIdentity = std::map<std::string, std::vector<uint8_t>>;

/// Keys of a file that only its owner may read: lines "IDENTITY HEXKEY", 16 to 64 bytes each; # starts a
/// comment. The error is a sentence without the path, and without what stands in the file.
Result<PskByIdentity> read_psk_file(const std::string& file);

}  // namespace matchrdma
