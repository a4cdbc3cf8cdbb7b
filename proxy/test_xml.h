#pragma once
// What tests ask of pages and drawings.
#include <algorithm>
#include <string>
#include <vector>

namespace matchrdma {

/// What keeps a text from being well-formed XML, as far as drawings go; empty: nothing.
inline std::string broken_xml(const std::string& s) {
  std::vector<std::string> open;
  for (size_t at = 0; (at = s.find('<', at)) != std::string::npos;) {
    const size_t end = s.find('>', at);
    if (end == std::string::npos) return "a tag is not closed";
    std::string tag = s.substr(at + 1, end - at - 1);
    at = end;
    if (tag.starts_with('!')) continue;
    if (tag.find('<') != std::string::npos) return "< within " + tag;
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "quotes of " + tag;
    const std::string name =
        tag.substr(tag.starts_with('/') ? 1 : 0, tag.find_first_of(" /", 1) - (tag[0] == '/'));
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return "</" + tag.substr(1) + "> closes nothing";
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
  }
  for (const char c : s)
    if ((c < ' ' && c != '\n') || c > '~') return "a character that XML or ASCII lacks";
  return open.empty() ? "" : open.back() + " stays open";
}

inline size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++n;
  return n;
}

}  // namespace matchrdma
