#include "proxy/plot_scale.h"

#include <algorithm>
#include <cmath>

#include "dataplane/base/check.h"
#include "proxy/svg.h"

namespace matchrdma {
namespace {

constexpr double kRounding = 1e-9;  // of a step: what a quotient may be off
constexpr double kFewDecades = 2.5, kLeastDecades = 0.3;
constexpr int kDecadesWithSmallTicks = 6;

/// Of a logarithmic axis: 1, 2 or 5 (or 1 alone) times a power of ten, numbered in order.
struct Mantissas {
  bool fine;
  int per_decade() const { return fine ? 3 : 1; }
  double at(int n) const {
    constexpr double kDigits[] = {1, 2, 5};
    const int each = per_decade();
    const int decade = n >= 0 ? n / each : -((each - 1 - n) / each);
    return kDigits[n - decade * each] * std::pow(10, decade);
  }
};

}  // namespace

std::string tick_text(double v) {
  std::string text = axis_number(v);
  const size_t e = text.find('e');
  if (e == std::string::npos) return text;
  const bool negative = text[e + 1] == '-';
  const std::string digits = text.substr(text.find_first_not_of("+-0", e + 1));
  return text.substr(0, e + 1) + (negative ? "-" : "") + digits;
}

PlotScale PlotScale::linear(double least, double most, int wanted) {
  if (least == most) {
    least = std::min(least, 0.0);
    most = std::max(most, 0.0);
    if (least == most) most = 1;
  }
  const double step = axis_step(most - least, wanted);
  const auto first = static_cast<int64_t>(std::floor(least / step + kRounding));
  const auto last = static_cast<int64_t>(std::ceil(most / step - kRounding));
  PlotScale s(false, static_cast<double>(first) * step, static_cast<double>(last) * step);
  for (int64_t i = first; i <= last; ++i) {
    const double value = static_cast<double>(i) * step;
    s.ticks_.push_back({value, tick_text(value)});
  }
  return s;
}

PlotScale PlotScale::logarithmic(double least, double most, int wanted) {
  MRDMA_CHECK(least > 0 && most >= least);
  if (std::log10(most / least) < kLeastDecades) {
    least /= 1.5;
    most *= 1.5;
  }
  const Mantissas m{std::log10(most / least) < kFewDecades};
  int first = static_cast<int>(std::floor(std::log10(least))) * m.per_decade();
  while (m.at(first + 1) <= least * (1 + kRounding)) ++first;
  int last = first + 1;
  while (m.at(last) < most * (1 - kRounding)) ++last;
  PlotScale s(true, m.at(first), m.at(last));
  const int every = m.fine ? 1 : std::max(1, (last - first + wanted - 1) / wanted);
  for (int n = first; n <= last; ++n) {
    const double value = m.at(n);
    s.ticks_.push_back({value, (n - first) % every == 0 ? tick_text(value) : ""});
    if (m.fine || n == last || last - first > kDecadesWithSmallTicks) continue;
    for (const double k : {2.0, 5.0}) s.ticks_.push_back({k * value, ""});
  }
  return s;
}

double PlotScale::place(double value) const {
  if (!logarithmic_) return std::clamp((value - low_) / (high_ - low_), 0.0, 1.0);
  if (value <= low_) return 0;
  return std::min(std::log(value / low_) / std::log(high_ / low_), 1.0);
}

}  // namespace matchrdma
