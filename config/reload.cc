#include "config/reload.h"

#include "config/print.h"
#include "config/section.h"

namespace matchrdma {
namespace {

/// Paths in which `a` and `b` differ and that need a restart. `restart`: whether the value as a whole does.
void compare(const Shown& a, const Shown& b, const std::string& path, bool restart,
             std::vector<std::string>& found) {
  if (a == b) return;
  const bool sections = a.kind == Shown::Kind::kMap && b.kind == Shown::Kind::kMap;
  const bool lists = a.kind == Shown::Kind::kList && b.kind == Shown::Kind::kList &&
                     a.entries.size() == b.entries.size() && a.entries.front().value.kind == Shown::Kind::kMap;
  if (!sections && !lists) {
    if (restart) found.push_back(path);
    return;
  }
  for (size_t i = 0; i < a.entries.size(); ++i) {
    const Shown::Entry &was = a.entries[i], &is = b.entries[i];
    const std::string at = sections ? joined(path, was.key) : path + "[" + std::to_string(i) + "]";
    compare(was.value, is.value, at, sections ? was.restart : restart, found);
  }
}

}  // namespace

std::vector<std::string> restart_needed(const Config& running, const Config& next) {
  std::vector<std::string> found;
  compare(show_config(running), show_config(next), "", false, found);
  return found;
}

}  // namespace matchrdma
