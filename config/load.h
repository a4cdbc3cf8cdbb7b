#pragma once
// A file or text into a Config, or into every error it has.
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"

namespace matchrdma {

/// One complaint, complete for people: where it stands, what stands there, what is wrong and what to do.
struct ConfigError {
  std::string file;
  uint32_t line = 0, column = 0;  ///< from 1; 0 where the file itself is meant
  std::string key;                ///< path like spans[0].wan.mtu
  std::string value;              ///< as written
  std::string text;
  bool operator==(const ConfigError&) const = default;
};

/// A Config where there is no error; warnings in either case.
struct ConfigResult {
  std::shared_ptr<const Config> config;
  std::vector<ConfigError> errors, warnings;
  bool ok() const { return config != nullptr; }
};

enum class Keys : uint8_t {
  kRead,
  kLeave,  ///< to check a file on a machine that has no secrets: they stay zero
};

/// Reads the file and the key files it names, checks all of it.
ConfigResult load_config(const std::string& path, Keys keys = Keys::kRead);
/// The same from a text, without opening any file: keys stay zero. `name` stands for the file in errors.
ConfigResult parse_config(const std::string& text, const std::string& name);

/// "FILE:LINE:COLUMN: key: value: text"
std::string to_text(const ConfigError& e);
/// One line each, errors first, for stderr of `--check`.
std::string complaints(const ConfigResult& r);

}  // namespace matchrdma
