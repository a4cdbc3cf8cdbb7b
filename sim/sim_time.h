#pragma once
// Virtual time of the simulator in picoseconds (SIMULATOR 1): a byte at 1.6 Tb/s lasts 5 ps.
#include <compare>
#include <cstdint>
#include <limits>

#include "dataplane/base/time.h"
#include "dataplane/base/types.h"

namespace matchrdma::sim {

/// A length of time in picoseconds.
struct SimSpan {
  int64_t ps = 0;
  static constexpr SimSpan nanos(int64_t v) { return {v * 1000}; }
  static constexpr SimSpan micros(int64_t v) { return {v * 1'000'000}; }
  constexpr double us() const { return static_cast<double>(ps) / 1e6; }
  constexpr auto operator<=>(const SimSpan&) const = default;
  constexpr SimSpan operator+(SimSpan o) const { return {ps + o.ps}; }
  constexpr SimSpan operator-(SimSpan o) const { return {ps - o.ps}; }
  constexpr SimSpan operator*(int64_t k) const { return {ps * k}; }
};

/// A point in virtual time, picoseconds since the start of the run; 2^63 ps are 106 days.
struct SimTime {
  int64_t ps = 0;
  static constexpr SimTime never() { return {std::numeric_limits<int64_t>::max()}; }
  constexpr bool is_never() const { return ps == std::numeric_limits<int64_t>::max(); }
  constexpr double us() const { return static_cast<double>(ps) / 1e6; }
  constexpr auto operator<=>(const SimTime&) const = default;
  constexpr SimTime operator+(SimSpan d) const { return {ps + d.ps}; }
  constexpr SimTime operator-(SimSpan d) const { return {ps - d.ps}; }
  constexpr SimSpan operator-(SimTime o) const { return {ps - o.ps}; }
};

/// Light in fibre, one way.
constexpr SimSpan fibre(int64_t km) { return SimSpan::nanos(km * kNanosPerKm); }

/// Bits per byte x picoseconds per second: a byte lasts so many picoseconds at 1 b/s.
inline constexpr int64_t kBitPs = 8'000'000'000'000;

/// Whole bytes that pass at that rate in that time.
constexpr int64_t bytes_in(Rate rate, SimSpan time) {
  return static_cast<int64_t>(static_cast<__int128>(rate.bps) * time.ps / kBitPs);
}

/// Granularity of computed times. The forks count whole nanoseconds and truncate (SIMULATOR 1); 1 ps is exact
/// for every rate used here.
struct Tick {
  int64_t ps = 1;

  /// Time that a frame of `bytes`, below 1 MB, occupies a link.
  constexpr SimSpan serialise(uint32_t bytes, Rate rate) const { return truncated(bytes * kBitPs / rate.bps); }
  /// The same at a rate that is no whole number, bits per second.
  SimSpan serialise(uint32_t bytes, double bps) const {
    return truncated(static_cast<int64_t>(static_cast<double>(bytes) * static_cast<double>(kBitPs) / bps));
  }

 private:
  constexpr SimSpan truncated(int64_t exact) const { return {exact - exact % ps}; }
};

}  // namespace matchrdma::sim
