#include "proxy/json_output.h"

#include <cerrno>
#include <cstring>
#include <iostream>

#include "proxy/output_files.h"

namespace matchrdma {

Result<void> write_json(const nlohmann::ordered_json& json, const std::string& path) {
  // File names need not be UTF-8: what is not is replaced instead of refused.
  const std::string text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (path == "-") {
    if (std::cout << text << std::flush) return {};
    return Error{"(stdout): write failed: " + std::string(std::strerror(errno)) + "; the JSON is incomplete"};
  }
  return write_file(path, [&](std::ostream& out) { out << text; });
}

}  // namespace matchrdma
