#include "config/units.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "config/words.h"

namespace matchrdma {
namespace {

struct Quantity {
  double number;
  std::string unit;  ///< in small letters
};

std::optional<Quantity> split(const std::string& text) {
  Quantity q{};
  const char* end = text.data() + text.size();
  const auto [p, ec] = std::from_chars(text.data(), end, q.number);
  if (ec != std::errc{} || !std::isfinite(q.number)) return std::nullopt;
  q.unit.assign(std::find_if(p, end, [](char c) { return c != ' '; }), end);
  for (char& c : q.unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return q;
}

bool is_bare_number(const std::string& text) {
  const auto q = split(text);
  return q && q->unit.empty() && q->number >= 0;
}

/// The error about a number without a unit. Each of `units` that makes of it what `parse` takes is proposed;
/// `example` where none does.
template <class Parse, class Print>
Error no_unit(const std::string& number, std::initializer_list<const char*> units, Parse parse, Print print,
              const std::string& example) {
  std::vector<std::string> readings;
  for (const char* unit : units) {
    const auto value = parse(number + unit);
    const std::string text = value ? print(*value) : "";
    if (value && std::find(readings.begin(), readings.end(), text) == readings.end()) readings.push_back(text);
  }
  return Error{"has no unit; write " + (readings.empty() ? example : either(readings))};
}

/// `value` in the largest of `units` (largest first) that leaves a whole number.
template <size_t N>
std::string exact(int64_t value, const std::array<std::pair<std::string_view, int64_t>, N>& units) {
  for (const auto& [unit, factor] : units)
    if (value != 0 && value % factor == 0) return std::to_string(value / factor).append(unit);
  return std::to_string(value).append(units.back().first);
}

}  // namespace

Result<Rate> parse_rate(const std::string& text) {
  const std::string remedy = "not a rate; write it like 100Gbps, 400Mbps or 25G, from 1kbps to 100Tbps";
  const auto q = split(text);
  // A big B behind the prefix means bytes: eight times as much.
  if (!q || text.find('B') != std::string::npos) return Error{remedy};
  std::string_view unit = q->unit;
  double scale = 1;
  constexpr std::array<std::pair<char, double>, 4> kScales{{{'k', 1e3}, {'m', 1e6}, {'g', 1e9}, {'t', 1e12}}};
  for (const auto& [letter, factor] : kScales)
    if (!unit.empty() && unit.front() == letter) {
      scale = factor;
      unit.remove_prefix(1);
      break;
    }
  if (unit != "" && unit != "bps" && unit != "b/s" && unit != "bit" && unit != "bit/s") return Error{remedy};
  const double bps = q->number * scale;
  if (bps < 1e3 || bps > 1e14) return Error{remedy};
  return Rate{std::llround(bps)};
}

Result<Duration> parse_duration(const std::string& text) {
  const std::string remedy = "not a time; write it like 10ms, 250us or 1.5s, at most one day";
  const auto q = split(text);
  if (!q) return Error{remedy};
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits{
      {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}}};
  for (const auto& [unit, ns] : kUnits)
    if (q->unit == unit && q->number >= 0 && q->number * ns <= 86400e9)
      return Duration{std::llround(q->number * ns)};
  return Error{remedy};
}

Result<double> parse_probability(const std::string& text) {
  const auto q = split(text);
  const double p = !q ? -1 : q->unit == "%" ? q->number / 100 : q->unit.empty() ? q->number : -1;
  if (p < 0 || p > 1) return Error{"not a probability; write it from 0 to 1, like 0.01, or like 1%"};
  return p;
}

Result<double> parse_distance(const std::string& text) {
  constexpr double kMost = 100'000;
  const auto q = split(text);
  if (!q || (q->unit != "" && q->unit != "km") || q->number < 0 || q->number > kMost)
    return Error{"not a distance; write kilometres from 0 to 100000, like 1000 or 1000km"};
  return q->number;
}

Result<uint64_t> parse_bytes(const std::string& text) {
  const auto q = split(text);
  constexpr std::array<std::pair<std::string_view, double>, 11> kUnits{{{"", 1},
                                                                        {"b", 1},
                                                                        {"k", 1024},
                                                                        {"kb", 1024},
                                                                        {"kib", 1024},
                                                                        {"m", 1048576},
                                                                        {"mb", 1048576},
                                                                        {"mib", 1048576},
                                                                        {"g", 1073741824},
                                                                        {"gb", 1073741824},
                                                                        {"gib", 1073741824}}};
  if (q && q->number >= 0 && q->number <= 1e12)
    for (const auto& [unit, bytes] : kUnits) {
      const double n = q->number * bytes;
      if (q->unit == unit && n == std::floor(n)) return static_cast<uint64_t>(n);
    }
  return Error{"not a number of bytes; write it like 65536, 64K or 1M"};
}

Result<Duration> parse_duration_between(const std::string& text, Duration least, Duration most) {
  const auto in_range = [&](const std::string& t) -> Result<Duration> {
    auto d = parse_duration(t);
    if (d && (*d < least || *d > most))
      return Error{"out of range; choose " + to_text(least) + " to " + to_text(most)};
    return d;
  };
  if (!is_bare_number(text)) return in_range(text);
  return no_unit(
      text, {"us", "ms", "s"}, in_range, [](Duration d) { return to_text(d); },
      "a time like 500us, 2ms or 60s");
}

Result<uint64_t> parse_bytes_between(const std::string& text, uint64_t least, uint64_t most) {
  const auto in_range = [&](const std::string& t) -> Result<uint64_t> {
    auto n = parse_bytes(t);
    if (!n) return Error{"not a number of bytes; write it like 64KiB, 64MiB or 2GiB"};
    if (*n < least || *n > most)
      return Error{"out of range; choose " + bytes_text(least) + " to " + bytes_text(most)};
    return n;
  };
  if (!is_bare_number(text)) return in_range(text);
  return no_unit(text, {"B", "KiB", "MiB", "GiB"}, in_range, bytes_text, "it like 64KiB, 64MiB or 2GiB");
}

Result<Rate> parse_rate_with_unit(const std::string& text) {
  if (!is_bare_number(text)) return parse_rate(text);
  return no_unit(
      text, {"bps", "Mbps", "Gbps"}, [](const std::string& t) { return parse_rate(t); },
      [](Rate r) { return to_text(r); }, "it like 100Gbps");
}

Result<double> parse_distance_with_unit(const std::string& text) {
  auto km = parse_distance(text);
  if (!km) return Error{"not a distance; write kilometres from 0 to 100000 with their unit, like 1000km"};
  if (is_bare_number(text)) return Error{"has no unit; write " + text + "km"};
  return km;
}

Result<uint64_t> parse_whole(const std::string& text, uint64_t least, uint64_t most,
                             const std::string& remedy) {
  const auto q = split(text);
  if (!q || !q->unit.empty() || q->number != std::floor(q->number) || q->number < static_cast<double>(least) ||
      q->number > static_cast<double>(most))
    return Error{remedy};
  return static_cast<uint64_t>(q->number);
}

Result<uint64_t> parse_seed(const std::string& text) {
  return parse_whole(text, 0, uint64_t{1} << 53, "not a seed; write a whole number from 0 to 2^53");
}

std::string to_text(Rate r) {
  constexpr std::array<std::pair<std::string_view, int64_t>, 5> kUnits{
      {{"Tbps", 1'000'000'000'000}, {"Gbps", 1'000'000'000}, {"Mbps", 1'000'000}, {"kbps", 1'000}, {"bps", 1}}};
  return exact(r.bps, kUnits);
}

std::string to_text(Duration d) {
  constexpr std::array<std::pair<std::string_view, int64_t>, 4> kUnits{
      {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}}};
  return exact(d.ns, kUnits);
}

std::string bytes_text(uint64_t bytes) {
  constexpr std::array<std::pair<std::string_view, int64_t>, 4> kUnits{
      {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}};
  return exact(static_cast<int64_t>(bytes), kUnits);
}

}  // namespace matchrdma
