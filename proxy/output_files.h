#pragma once
// Files that a command writes: none of them may be its input, or one of the others.
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "dataplane/base/result.h"

namespace matchrdma {

struct OutputFile {
  const char* option = "";
  std::string path;  ///< empty: not wanted; "-": stdout
};

/// Fails, naming option, file and remedy, before anything is opened for writing: an output is the input or
/// another output under whatever name, or two of them want stdout. `what`: what the input is, for people.
Result<void> check_outputs(const std::string& input, const std::vector<OutputFile>& outputs,
                           const std::string& what = "the capture");
/// Fails for the first that cannot be written. Leaves no file behind.
Result<void> check_writable(const std::vector<OutputFile>& outputs);

/// Makes the file anew from what `write` puts into the stream. When that fails the file is as it was before.
Result<void> write_file(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace matchrdma
