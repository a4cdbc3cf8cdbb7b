#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "config/load.h"

namespace matchrdma {

/// A place in the file, from 1.
struct Mark {
  uint32_t line = 1, column = 1;
};

/// Duty: collects what is wrong with a configuration, and remembers where each key stands, so that a check of
/// values can point at the line. Does not know YAML, nor what keys there are.
class Notes {
 public:
  explicit Notes(std::string file) : file_(std::move(file)) {}

  /// `path` stands at `at` and has the value `text` (empty for a section).
  void place(const std::string& path, Mark at, std::string text);

  /// About a place.
  void error(Mark at, const std::string& key, const std::string& value, const std::string& text);
  /// About a key: its own place, or that of the section where it would stand.
  void error(const std::string& path, const std::string& text);
  void warning(const std::string& path, const std::string& text);
  /// About the file, before anything of it was read.
  void file_error(const std::string& text);

  /// Whether nothing wrong was found about this key or what stands below it. Checks of two values ask before
  /// they compare.
  bool good(const std::string& path) const;

  /// Whether this key stands in the file.
  bool written(const std::string& path) const { return places_.contains(path); }

  /// The line of this key, 0 where it is not in the file.
  uint32_t line(const std::string& path) const;

  const std::vector<ConfigError>& errors() const { return errors_; }
  const std::vector<ConfigError>& warnings() const { return warnings_; }

 private:
  struct Place {
    Mark at;
    std::string text;
  };
  ConfigError about(const std::string& path, const std::string& text) const;

  std::string file_;
  std::map<std::string, Place> places_;
  std::vector<ConfigError> errors_, warnings_;
};

}  // namespace matchrdma
