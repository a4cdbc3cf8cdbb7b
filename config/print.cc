#include "config/print.h"

#include <algorithm>
#include <string_view>

#include "config/schema.h"
#include "config/words.h"

namespace matchrdma {
namespace {

/// Text that every YAML reader takes for the same text without quotes.
bool is_plain(std::string_view s) {
  constexpr std::string_view kInside = "/_-.=%+";
  if (s.empty() || s.back() == ':') return false;
  const auto word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (!word(s.front()) && s.front() != '/') return false;
  return std::all_of(s.begin(), s.end(),
                     [&](char c) { return word(c) || kInside.find(c) != std::string_view::npos; });
}

std::string quoted(const std::string& s) {
  if (is_plain(s)) return s;
  std::string q = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') q += '\\';
    q += c;
  }
  return q + "\"";
}

bool is_nested(const Shown& s) { return s.kind == Shown::Kind::kMap; }

void write(const Shown& s, size_t indent, std::string& out);

void write_entry(const Shown::Entry& e, size_t indent, std::string& out) {
  const Shown& v = e.value;
  const std::string start = std::string(indent, ' ') + e.key + ":";
  if (v.kind == Shown::Kind::kScalar) {
    out += start + " " + quoted(v.text) + "\n";
  } else if (v.kind == Shown::Kind::kList && !is_nested(v.entries.front().value)) {
    out += start + " [" + listed(v.entries, [](const auto& each) { return quoted(each.value.text); }) + "]\n";
  } else {
    std::string below;
    write(v, indent + 2, below);
    if (!below.empty()) out += start + "\n" + below;
  }
}

/// The entries of a map or list, one a line.
void write(const Shown& s, size_t indent, std::string& out) {
  for (const Shown::Entry& e : s.entries) {
    if (e.value.kind == Shown::Kind::kNothing) continue;
    if (s.kind == Shown::Kind::kMap) {
      write_entry(e, indent, out);
    } else {
      std::string element;
      write(e.value, indent + 2, element);
      element[indent] = '-';  // the dash stands where the first key's margin was
      out += element;
    }
  }
}

}  // namespace

Shown show_config(const Config& c) { return schema().show(c); }

std::string print_config(const Config& c) {
  std::string out;
  write(show_config(c), 0, out);
  return out;
}

}  // namespace matchrdma
