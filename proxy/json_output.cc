#include "proxy/json_output.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace matchrdma {

Result<void> write_json(const nlohmann::ordered_json& json, const std::string& path) {
  // File names need not be UTF-8: what is not is replaced instead of refused.
  const std::string text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (path == "-") {
    if (std::cout << text << std::flush) return {};
    return Error{"(stdout): write failed: " + std::string(std::strerror(errno)) + "; the JSON is incomplete"};
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) {
    return Error{path + ": cannot be created: " + std::strerror(errno) +
                 "; check that its folder exists and may be written"};
  }
  if (file << text << std::flush) return {};
  const Error e{path + ": write failed: " + std::strerror(errno) + "; check the free space of the disk"};
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored))
    std::filesystem::remove(path, ignored);  // half of it is worth nothing
  return e;
}

}  // namespace matchrdma
