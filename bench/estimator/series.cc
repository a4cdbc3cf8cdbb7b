#include "bench/estimator/series.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "dataplane/base/prng.h"

namespace matchrdma::estimator_bench {
namespace {

constexpr auto kSteps = static_cast<size_t>((kPlayed + kAhead).ns / kStep.ns);
constexpr double kMs = 1e6 / kStepNs;  // steps

size_t step_at(double steps) {
  return static_cast<size_t>(std::clamp(steps, 0.0, static_cast<double>(kSteps)));
}

void fill(Rates& r, double from, double to, double rate) {
  std::fill(r.begin() + static_cast<int64_t>(step_at(from)), r.begin() + static_cast<int64_t>(step_at(to)),
            static_cast<float>(rate));
}

Rates constant(double rate) { return Rates(kSteps, static_cast<float>(rate)); }

double within(Prng& p, double lo, double hi) { return lo + (hi - lo) * p.unit(); }

struct Square {
  double period_ms, duty, high, low;
  double jitter = 0;  ///< of period and rates; the time spent high half as much
  double drift = 0;   ///< by how much the period has grown at the end
};

/// Begins anywhere in its first period.
Rates square(const Square& s, Prng& p) {
  Rates r(kSteps);
  const double end = static_cast<double>(kSteps);
  double t = -s.period_ms * kMs * p.unit();
  while (t < end) {
    const double period =
        s.period_ms * kMs * (1 + s.drift * std::max(0.0, t) / end) * (1 + within(p, -s.jitter, s.jitter));
    const double on = period * s.duty * (1 + within(p, -s.jitter, s.jitter) / 2);
    fill(r, t, t + on, s.high * (1 - within(p, 0, s.jitter)));
    fill(r, t + on, t + period, s.low * (1 + within(p, -s.jitter, s.jitter)));
    t += period;
  }
  return r;
}

std::vector<Series> one(std::string name, Rates capacity, Rates demand = {}) {
  return {{.name = std::move(name), .capacity = std::move(capacity), .demand = std::move(demand)}};
}

std::vector<Series> make_constant(uint64_t) { return one("constant 60", constant(60)); }

std::vector<Series> make_step(uint64_t seed) {
  Prng p(seed);
  Rates r = constant(90);
  const double first = (3000 + p.unit()) * kMs;  // anywhere in a slot
  fill(r, first, first + 1500 * kMs, 30);
  return one("step", std::move(r));
}

/// One period of a round number, which may fall on the grid of slots, and one that does not.
std::vector<Series> make_squares(uint64_t seed) {
  constexpr std::array<Square, 4> kRound{
      {{20, 0.5, 90, 30}, {50, 0.3, 90, 30}, {100, 0.7, 90, 30}, {200, 0.5, 90, 30}}};
  Prng p(seed);
  std::vector<Series> both = one("square, round", square(kRound[seed % kRound.size()], p));
  const Square odd{20 * std::pow(10, p.unit()), within(p, 0.3, 0.7), 90, 30};
  both.push_back(one("square, odd", square(odd, p)).front());
  return both;
}

std::vector<Series> make_deep_square(uint64_t seed) {
  Prng p(seed);
  return one("square 100/5", square({100, 0.5, 100, 5}, p));
}

std::vector<Series> make_jitter_10(uint64_t seed) {
  Prng p(seed);
  return one("square jitter 10 %", square({50, 0.5, 90, 30, 0.1}, p));
}

std::vector<Series> make_jitter_30(uint64_t seed) {
  Prng p(seed);
  return one("square jitter 30 %", square({100, 0.5, 90, 30, 0.3}, p));
}

std::vector<Series> make_drift(uint64_t seed) {
  Prng p(seed);
  return one("drift", square({50, 0.5, 90, 30, 0, 0.5}, p));
}

std::vector<Series> make_on_off(uint64_t seed) {
  Prng p(seed);
  Rates r(kSteps);
  bool on = true;
  for (double t = 0; t < static_cast<double>(kSteps); on = !on) {
    const double end = t + (1 - 20 * std::log(1 - p.unit())) * kMs;  // 1 ms and an exponential of mean 20
    fill(r, t, end, on ? 90 : 10);
    t = end;
  }
  return one("on/off", std::move(r));
}

std::vector<Series> make_noise(uint64_t seed) {
  Prng p(seed);
  Rates r(kSteps);
  for (double t = 0; t < static_cast<double>(kSteps); t += kMs) fill(r, t, t + kMs, 60 * within(p, 0.7, 1.3));
  return one("noise", std::move(r));
}

std::vector<Series> make_demand(uint64_t seed) {
  Prng p(seed);
  return one("demand on/off", constant(60), square({50, 0.5, 100, 0}, p));
}

std::vector<Series> make_demand_and_square(uint64_t seed) {
  Prng p(seed);
  Rates demand = square({50, 0.5, 100, 0, 0.1}, p);
  return one("demand and square", square({70, 0.5, 90, 30}, p), std::move(demand));
}

std::vector<Series> make_unseen_drop(uint64_t seed) {
  Prng p(seed);
  Rates capacity = constant(90), demand = constant(100);
  fill(capacity, (2000 + p.unit()) * kMs, static_cast<double>(kSteps), 40);
  fill(demand, 0, (3000 + p.unit()) * kMs, 10);
  std::vector<Series> s = one("unseen drop", std::move(capacity), std::move(demand));
  s.front().scored = false;
  return s;
}

}  // namespace

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows{
      {"constant 60", false, make_constant},
      {"step 90-30-90", true, make_step},
      {"square 90/30, 20-200 ms", true, make_squares},
      {"square 100/5, 100 ms", true, make_deep_square},
      {"square 50 ms, jitter 10 %", true, make_jitter_10},
      {"square 100 ms, jitter 30 %", true, make_jitter_30},
      {"period drifting 50 -> 75 ms", true, make_drift},
      {"random on/off 90/10, 21 ms", true, make_on_off},
      {"level noise 30 %, every 1 ms", true, make_noise},
      {"demand 50 ms on/off, constant 60", true, make_demand},
      {"demand 50 ms jitter, square 70 ms", true, make_demand_and_square},
      {"demand 10, unseen drop, full", true, make_unseen_drop},
  };
  return kRows;
}

}  // namespace matchrdma::estimator_bench
