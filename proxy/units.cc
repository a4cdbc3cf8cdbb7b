#include "proxy/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

namespace matchrdma {
namespace {

struct Quantity {
  double number;
  std::string_view unit;
};

std::optional<Quantity> split(const std::string& text) {
  Quantity q{};
  const char* end = text.data() + text.size();
  const auto [p, ec] = std::from_chars(text.data(), end, q.number);
  if (ec != std::errc{} || !std::isfinite(q.number)) return std::nullopt;
  q.unit = std::string_view(p, static_cast<size_t>(end - p));
  while (!q.unit.empty() && q.unit.front() == ' ') q.unit.remove_prefix(1);
  return q;
}

Error bad(const std::string& option, const std::string& text, const std::string& remedy) {
  return Error{option + " " + text + ": " + remedy};
}

}  // namespace

Result<Rate> parse_rate(const std::string& option, const std::string& text) {
  const std::string remedy = "not a rate; write it like 100Gbps, 400Mbps or 25G, from 1kbps to 100Tbps";
  const auto q = split(text);
  if (!q) return bad(option, text, remedy);
  std::string_view unit = q->unit;
  double scale = 1;
  constexpr std::array<std::pair<char, double>, 5> kScales{
      {{'k', 1e3}, {'K', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}}};
  for (const auto& [letter, factor] : kScales)
    if (!unit.empty() && unit.front() == letter) {
      scale = factor;
      unit.remove_prefix(1);
      break;
    }
  if (unit != "" && unit != "bps" && unit != "b/s" && unit != "bit" && unit != "bit/s")
    return bad(option, text, remedy);
  const double bps = q->number * scale;
  if (bps < 1e3 || bps > 1e14) return bad(option, text, remedy);
  return Rate{std::llround(bps)};
}

Result<Duration> parse_duration(const std::string& option, const std::string& text) {
  const std::string remedy = "not a time; write it like 10ms, 250us or 1.5s, at most one day";
  const auto q = split(text);
  if (!q) return bad(option, text, remedy);
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits{
      {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}}};
  for (const auto& [unit, ns] : kUnits)
    if (q->unit == unit && q->number >= 0 && q->number * ns <= 86400e9)
      return Duration{std::llround(q->number * ns)};
  return bad(option, text, remedy);
}

Result<double> parse_probability(const std::string& option, const std::string& text) {
  const auto q = split(text);
  const double p = !q ? -1 : q->unit == "%" ? q->number / 100 : q->unit.empty() ? q->number : -1;
  if (p < 0 || p > 1)
    return bad(option, text, "not a probability; write it from 0 to 1, like 0.01, or like 1%");
  return p;
}

Result<double> parse_number(const std::string& option, const std::string& text, double least, double most,
                            const std::string& remedy) {
  const auto q = split(text);
  if (!q || !q->unit.empty() || q->number < least || q->number > most) return bad(option, text, remedy);
  return q->number;
}

}  // namespace matchrdma
