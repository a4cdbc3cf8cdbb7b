#pragma once
// What an operator may choose, and the same in the units of the arithmetic: rates in Gb/s (which is bits per
// nanosecond), volumes in bytes, time in slots.
#include <cstdint>

#include "dataplane/base/time.h"
#include "dataplane/base/types.h"

namespace matchrdma {

enum class Scheme : uint8_t {
  kEarned,  ///< predictors weighted by their own error (ESTIMATOR 6)
  kPaper,   ///< the paper's static weights and level factors, for comparison
  kLast,    ///< what is now goes on, for comparison
};

/// As options and files call it.
constexpr const char* scheme_word(Scheme s) {
  return s == Scheme::kPaper ? "paper" : s == Scheme::kLast ? "last" : "earned";
}

struct EstimatorSettings {
  Duration slot = Duration::micros(200);
  Rate line_rate{100'000'000'000};  ///< most that one receiver takes
  Scheme scheme = Scheme::kEarned;
  uint64_t queue_target = 0;  ///< bytes that may stand in the receiver's network; 0: 24 us of the line
  Rate port_rate{};           ///< of the egress port, for all receivers behind it together; 0: line_rate
  Rate port() const { return port_rate > Rate{} ? port_rate : line_rate; }
};

/// Slots ahead of which a budget can govern arrivals: 102 ms there and back at 200 us, half of the Earth.
/// What is longer is treated as this.
inline constexpr int kMaxHorizon = 1024;

/// The settings in the units of the arithmetic. Everything that the page gives as a share of the line rate is
/// here.
struct Scale {
  explicit Scale(const EstimatorSettings& s);

  double slot_ns;
  double line;      ///< Gb/s
  double floor;     ///< Gb/s, the least budget: 1 % of the line
  double q_target;  ///< bytes that may stand in the receiver's network (ESTIMATOR 7)

  double percent(double p) const { return line * p / 100; }
  /// Gb/s of so many bytes in one slot, and back.
  double rate(double bytes) const { return bytes * 8 / slot_ns; }
  double bytes(double gbps) const { return gbps * slot_ns / 8; }
  double slots(Duration d) const { return static_cast<double>(d.ns) / slot_ns; }
  /// h = floor(2D / slot) + 1: a budget made at the end of slot k governs the arrivals of slot k + h.
  int horizon(Duration one_way) const;
  Rate to_rate(double gbps) const { return Rate{static_cast<int64_t>(gbps * 1e9)}; }
};

}  // namespace matchrdma
