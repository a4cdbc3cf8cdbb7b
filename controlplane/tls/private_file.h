#pragma once
#include <string>

#include "dataplane/base/result.h"

namespace matchrdma {

/// The first `most` bytes of a file that only its owner may read and that belongs to root or to who runs this.
/// The error is a sentence without the path; `make_one` tells what to do where there is no such file.
Result<std::string> read_private_file(const std::string& path, size_t most, const std::string& make_one);

}  // namespace matchrdma
