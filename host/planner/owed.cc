#include "host/planner/owed.h"

#include <algorithm>
#include <cmath>

#include "host/planner/chance.h"

namespace matchrdma::planner {
namespace {

// A message has less than 2^50 groups: what is rarer than this never happens.
constexpr double kNever = 1e-32;

/// Chances of owing 0, 1, 2, ... of one codeword.
std::vector<double> owed_by_word(const Words& w, double p) {
  std::vector<double> chances{0};
  for (int64_t lost = 0; lost <= w.data + w.parity; ++lost) {
    const double chance = binomial(w.data + w.parity, lost, p);
    if (lost <= w.parity)
      chances[0] += chance;
    else
      chances.push_back(chance);
  }
  return chances;
}

void drop_what_never_happens(std::vector<double>& chances) {
  while (chances.size() > 1 && chances.back() < kNever) chances.pop_back();
}

/// Of the sum of two independent numbers.
std::vector<double> sum_of(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> both(a.size() + b.size() - 1);
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j) both[i + j] += a[i] * b[j];
  drop_what_never_happens(both);
  return both;
}

/// Log of the chance that one packet has arrived after so many tries that may each lose it.
double log_arrived(int64_t tries, double log_lost) {
  if (tries <= 0) return -INFINITY;
  return std::log1p(-std::exp(static_cast<double>(tries) * log_lost));
}

double log_of_complement(double chance) { return std::log1p(-std::min(chance, 1.0)); }

}  // namespace

Owed::Owed(const std::vector<Words>& words, double p) {
  if (p == 0) return;
  log_lost_ = std::log(p);
  std::vector<double> chances{1};
  for (const Words& w : words) {
    std::vector<double> word = owed_by_word(w, p);
    drop_what_never_happens(word);
    for (int64_t i = 0; i < w.count; ++i) chances = sum_of(chances, word);
  }
  chances_.assign(chances.begin() + 1, chances.end());
  double square = 0;
  for (size_t i = 0; i < chances_.size(); ++i) {
    const auto n = static_cast<double>(i + 1);
    mean_ += n * chances_[i];
    square += n * n * chances_[i];
  }
  if (mean_ > 0) dispersion_ = (square - mean_ * mean_) / mean_;
  for (int64_t repeats = 0;; ++repeats) {
    const double arrived = log_arrived(repeats, log_lost_);
    double late = 0;
    for (size_t i = 0; i < chances_.size(); ++i)
      late -= chances_[i] * std::expm1(static_cast<double>(i + 1) * arrived);
    if (late < kNever) break;
    log_done_.push_back(log_of_complement(late));
  }
}

double Owed::log_done_after(int64_t packet_times, int64_t round) const {
  if (packet_times < round) return log_done(0);
  const int64_t tries = packet_times / round;
  if (packet_times % round >= most() - 1) return log_done(tries);
  double late = 0, arrived = 0;  // log, of the first packets owed
  int64_t of_tries = -1;
  double one = 0;
  for (int64_t i = 0; i < most(); ++i) {
    const int64_t now = packet_times < i ? 0 : (packet_times - i) / round;
    if (now != of_tries) one = log_arrived(of_tries = now, log_lost_);
    arrived += one;
    late -= chances_[static_cast<size_t>(i)] * std::expm1(arrived);
  }
  return log_of_complement(late);
}

}  // namespace matchrdma::planner
