#include "proxy/output_files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace matchrdma {
namespace {

namespace fs = std::filesystem;

// The same file under two names: by device and inode where both exist (hard and symbolic links), by place
// otherwise.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code e;
  if (fs::exists(a, e) && fs::exists(b, e)) return fs::equivalent(a, b, e);
  return fs::weakly_canonical(a, e) == fs::weakly_canonical(b, e);
}

}  // namespace

Result<void> check_outputs(const std::string& input, const std::vector<OutputFile>& outputs,
                           const std::string& what) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputFile& o = outputs[i];
    if (o.path.empty()) continue;
    const std::string where = std::string(o.option) + " " + o.path + ": ";
    if (o.path != "-" && input != "-" && same_file(o.path, input))
      return Error{where + "is " + what + " that is read (" + input + "); name another file"};
    for (size_t k = 0; k < i; ++k) {
      if (outputs[k].path.empty() || (o.path == "-") != (outputs[k].path == "-")) continue;
      if (o.path == "-" || same_file(o.path, outputs[k].path))
        return Error{where + "is written by " + outputs[k].option + " too; name another file"};
    }
  }
  return {};
}

Result<void> check_writable(const std::vector<OutputFile>& outputs) {
  for (const OutputFile& o : outputs) {
    std::error_code e;
    if (o.path.empty() || o.path == "-") continue;
    const bool there = fs::exists(o.path, e);
    if (there && !fs::is_regular_file(o.path, e) && !fs::is_directory(o.path, e)) continue;  // a pipe may block
    if (!std::ofstream(o.path, std::ios::app))
      return Error{std::string(o.option) + " " + o.path + ": cannot be created: " + std::strerror(errno) +
                   "; check that its folder exists and may be written"};
    if (!there) fs::remove(o.path, e);
  }
  return {};
}

Result<void> write_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
  // Beside it, and then in its place: who has no room for the new one keeps the old one. A device or a link is
  // written to as it is.
  std::error_code none;
  const auto kind = fs::symlink_status(path, none).type();
  const bool replaces = kind == fs::file_type::regular || kind == fs::file_type::not_found;
  const std::string at = replaces ? path + ".part" : path;
  std::ofstream file(at, std::ios::binary | std::ios::trunc);
  if (!file)
    return Error{path + ": cannot be created: " + std::strerror(errno) +
                 "; check that its folder exists and may be written"};
  write(file);
  bool good = !file.flush().fail();
  if (good && replaces) {
    file.close();
    fs::rename(at, path, none);
    good = !none;
    if (none) errno = none.value();
  }
  if (good) return {};
  const Error e{path + ": write failed: " + std::strerror(errno) + "; check the free space of the disk"};
  if (replaces) fs::remove(at, none);
  return e;
}

}  // namespace matchrdma
