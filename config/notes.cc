#include "config/notes.h"

#include <algorithm>

namespace matchrdma {
namespace {

constexpr size_t kShownValue = 80;

/// Short enough for a line, and on one line.
std::string shown(std::string value) {
  for (char& c : value)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  if (value.size() <= kShownValue) return value;
  size_t cut = kShownValue;
  while (cut > 0 && (static_cast<unsigned char>(value[cut]) & 0xc0) == 0x80)
    --cut;  // not inside a UTF-8 character
  return value.substr(0, cut) + "...";
}

/// "spans[0].wan.mtu" -> "spans[0].wan" -> "spans[0]" -> "spans" -> ""
std::string above(const std::string& path) {
  const size_t cut = path.find_last_of(".[");
  return cut == std::string::npos ? "" : path.substr(0, cut);
}

}  // namespace

void Notes::place(const std::string& path, Mark at, std::string text) {
  places_.insert_or_assign(path, Place{at, std::move(text)});
}

void Notes::error(Mark at, const std::string& key, const std::string& value, const std::string& text) {
  errors_.push_back({file_, at.line, at.column, shown(key), shown(value), text});
}

ConfigError Notes::about(const std::string& path, const std::string& text) const {
  const auto own = places_.find(path);
  auto at = own;
  for (std::string p = path; at == places_.end() && !p.empty();) at = places_.find(p = above(p));
  const Mark mark = at == places_.end() ? Mark{} : at->second.at;
  return {file_, mark.line, mark.column, path, own == places_.end() ? "" : shown(own->second.text), text};
}

uint32_t Notes::line(const std::string& path) const {
  const auto own = places_.find(path);
  return own == places_.end() ? 0 : own->second.at.line;
}

void Notes::error(const std::string& path, const std::string& text) { errors_.push_back(about(path, text)); }

void Notes::warning(const std::string& path, const std::string& text) {
  warnings_.push_back(about(path, text));
}

void Notes::file_error(const std::string& text) { errors_.push_back({file_, 0, 0, "", "", text}); }

bool Notes::good(const std::string& path) const {
  return std::none_of(errors_.begin(), errors_.end(), [&](const ConfigError& e) {
    return e.key.starts_with(path) &&
           (e.key.size() == path.size() || e.key[path.size()] == '.' || e.key[path.size()] == '[');
  });
}

}  // namespace matchrdma
