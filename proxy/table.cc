#include "proxy/table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>
#include <utility>

#include "dataplane/base/check.h"

namespace matchrdma {
namespace {

constexpr size_t kGap = 2;  // spaces between columns

// Code points, not bytes: every byte that does not continue a UTF-8 sequence starts one.
size_t width(const std::string& s) {
  return static_cast<size_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string without_controls(std::string s) {
  for (char& c : s) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return s;
}

}  // namespace

std::string thousands(uint64_t n) {
  std::string s = std::to_string(n);
  for (size_t i = s.size(); i > 3; i -= 3) s.insert(i - 3, 1, ',');
  return s;
}

std::string decimal(double v, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, v);
  return text;
}

std::string duration_text(int64_t ns) {
  struct Unit {
    double ns;
    const char* name;
  };
  constexpr std::array<Unit, 3> kUnits{{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}}};
  for (const Unit& u : kUnits) {
    const double v = static_cast<double>(ns) / u.ns;
    if (v < 1 && v > -1) continue;
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.3f %s", v, u.name);
    return text.data();
  }
  return std::to_string(ns) + " ns";
}

std::string volume_text(double bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return decimal(bytes, unit == 0 ? 0 : 1) + ' ' + kUnits[unit];
}

void Table::add(std::vector<std::string> cells) {
  MRDMA_CHECK(cells.size() == columns_.size());
  for (std::string& c : cells) c = without_controls(std::move(c));
  rows_.push_back(std::move(cells));
}

void Table::print(std::ostream& out, size_t indent) const {
  std::vector<size_t> widths;
  std::vector<std::string> headings, rule;
  bool headed = false;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t w = width(columns_[i].heading);
    for (const auto& row : rows_) w = std::max(w, width(row[i]));
    widths.push_back(w);
    headings.push_back(columns_[i].heading);
    rule.emplace_back(w, '-');
    headed = headed || !columns_[i].heading.empty();
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string fill(widths[i] - width(cells[i]), ' ');
      if (i > 0) text.append(kGap, ' ');
      text += columns_[i].align == Align::kRight ? fill + cells[i] : cells[i] + fill;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << std::string(indent, ' ') << text << '\n';
  };
  if (headed) {
    line(headings);
    line(rule);
  }
  for (const auto& row : rows_) line(row);
}

}  // namespace matchrdma
