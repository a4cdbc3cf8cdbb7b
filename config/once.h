#pragma once
#include <map>
#include <string>
#include <utility>

#include "config/notes.h"

namespace matchrdma {

/// Duty: tells the second use of what may be used once. Does not know what it is.
class Once {
 public:
  Once(std::string what, Notes& notes) : what_(std::move(what)), notes_(notes) {}
  void use(const std::string& thing, const std::string& path) {
    if (thing.empty()) return;
    const auto [first, fresh] = seen_.emplace(thing, path);
    if (!fresh) notes_.error(path, what_ + " " + first->second + " too; choose another one");
  }

 private:
  std::string what_;
  Notes& notes_;
  std::map<std::string, std::string> seen_;
};

}  // namespace matchrdma
