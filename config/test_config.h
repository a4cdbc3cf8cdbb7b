#pragma once
// Configurations for tests.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "config/load.h"

namespace matchrdma::test {

inline std::string file_content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline const std::vector<std::string>& examples() {
  static const std::vector<std::string> names{"lab", "one-span", "four-spans"};
  return names;
}
inline std::string example_path(const std::string& name) {
  return std::string(MATCHRDMA_SOURCE_DIR) + "/config/examples/" + name + ".yaml";
}

/// The shortest file that is good; line numbers of tests count on it.
inline std::string small() {
  return "workers:\n"                     // 1
         "  cores: 1\n"                   // 2
         "spans:\n"                       // 3
         "  - name: s\n"                  // 4
         "    lan:\n"                     // 5
         "      port: net_null0\n"        // 6
         "      mtu: 1500\n"              // 7
         "    wan:\n"                     // 8
         "      port: net_null1\n"        // 9
         "      mtu: 1500\n"              // 10
         "      address: 192.0.2.1/30\n"  // 11
         "    peer:\n"                    // 12
         "      address: 192.0.2.2\n"     // 13
         "      keys:\n"                  // 14
         "        - {id: 1, file: k}\n";  // 15
}

/// small() with one piece of text replaced.
inline std::string changed(const std::string& from, const std::string& to) {
  std::string text = small();
  const size_t at = text.find(from);
  return at == std::string::npos ? "no such text: " + from : text.replace(at, from.size(), to);
}

/// What is said about a text, errors and warnings.
inline std::string said(const std::string& text) { return complaints(parse_config(text, "c.yaml")); }

}  // namespace matchrdma::test
