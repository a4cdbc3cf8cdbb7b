#pragma once
// Virtual time. The core never reads a clock: every entry point takes `now`.
#include <compare>
#include <cstdint>
#include <limits>

namespace matchrdma {

/// A span of time in nanoseconds.
struct Duration {
  int64_t ns = 0;
  static constexpr Duration nanos(int64_t v) { return {v}; }
  static constexpr Duration micros(int64_t v) { return {v * 1000}; }
  static constexpr Duration millis(int64_t v) { return {v * 1'000'000}; }
  static constexpr Duration seconds(int64_t v) { return {v * 1'000'000'000}; }
  constexpr auto operator<=>(const Duration&) const = default;
  constexpr Duration operator+(Duration o) const { return {ns + o.ns}; }
  constexpr Duration operator-(Duration o) const { return {ns - o.ns}; }
  constexpr Duration operator*(int64_t k) const { return {ns * k}; }
  constexpr Duration operator/(int64_t k) const { return {ns / k}; }
};

/// A point in virtual time, nanoseconds since an origin chosen by the host of the core.
struct Instant {
  int64_t ns = 0;
  static constexpr Instant never() { return {std::numeric_limits<int64_t>::max()}; }
  constexpr bool is_never() const { return ns == std::numeric_limits<int64_t>::max(); }
  constexpr auto operator<=>(const Instant&) const = default;
  constexpr Instant operator+(Duration d) const { return {ns + d.ns}; }
  constexpr Instant operator-(Duration d) const { return {ns - d.ns}; }
  constexpr Duration operator-(Instant o) const { return {ns - o.ns}; }
};

constexpr Instant earlier(Instant a, Instant b) { return a < b ? a : b; }
constexpr Instant later(Instant a, Instant b) { return a < b ? b : a; }

/// Light in fibre, one way.
inline constexpr int64_t kNanosPerKm = 5000;

}  // namespace matchrdma
