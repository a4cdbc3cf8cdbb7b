#pragma once
// Tables for people: aligned columns, numbers to the right, thousands apart.
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace matchrdma {

/// "1,234,567"
std::string thousands(uint64_t n);
/// With so many digits behind the point.
std::string decimal(double v, int digits);
/// "12.5 us", "3.20 ms", "1.04 s"
std::string duration_text(int64_t ns);
/// "512 B", "1.5 GiB": powers of 1024.
std::string volume_text(double bytes);

/// Duty: lays out rows of text. Does not know what they mean.
class Table {
 public:
  enum class Align : uint8_t { kLeft, kRight };
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// As many cells as there are columns. Control characters are shown as '?': a cell stays on its line.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  /// Prints the headings with a rule below (none when all are empty), then the rows, each behind `indent`
  /// spaces.
  void print(std::ostream& out, size_t indent = 2) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace matchrdma
