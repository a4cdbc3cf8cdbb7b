#include "host/planner/tail.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace matchrdma::planner {
namespace {

constexpr double kRounding = 1e-6;  // of a packet time

int64_t whole(double v) { return static_cast<int64_t>(std::floor(v + kRounding)); }

}  // namespace

int64_t Groups::ended(double time) const {
  if (full == 0 || time <= 0) return 0;
  const auto first = static_cast<double>(round);
  const double sent = time <= first ? time : first + (time - first) * (1 - resend_share);
  return std::min(full, whole(sent / static_cast<double>(each.packets)));
}

double Groups::resends_until(double time) const {
  constexpr double kFew = 1e-9;
  double sum = 0, still_lost = each.owed.mean();
  while ((time -= static_cast<double>(round)) > 0 && still_lost > kFew) {
    sum += still_lost * static_cast<double>(ended(time));
    still_lost *= loss;
  }
  return sum;
}

Tail::Tail(Groups groups)
    : g_(std::move(groups)),
      packet_({{1, 1, 0}}, g_.loss),
      end_(static_cast<double>(g_.packets()) + g_.resends_before_end) {
  const auto round = static_cast<double>(g_.round);
  earlier_ = g_.ended(end_ - round);
  in_flight_ = g_.resends_before_end == 0 ? 0 : g_.resends_before_end - g_.resends_until(end_ - round);
}

int64_t Tail::before_end(int64_t group) const {
  const auto sent = static_cast<double>(group * g_.each.packets), first = static_cast<double>(g_.round);
  const double time = sent <= first ? sent : first + (sent - first) / (1 - g_.resend_share);
  return whole(end_ - time);
}

double Tail::full_groups(int64_t later) const {
  const int64_t all = g_.full - earlier_;
  const Owed& owed = g_.each.owed;
  // Groups that ended so long ago.
  const auto count = [&](int64_t ago) { return g_.ended(end_ + static_cast<double>(later - ago)) - earlier_; };
  double sum = 0;
  int64_t counted = 0;
  for (int64_t repeats = later / g_.round + 1; repeats > 0 && counted < all; --repeats) {
    const int64_t since = repeats * g_.round;
    const int64_t each = std::max(counted, count(since + owed.most() - 1)), some = count(since);
    if (each > counted) sum += static_cast<double>(each - counted) * owed.log_done(repeats);  // may be -inf
    for (int64_t i = each; i < some; ++i)  // just now being repeated
      sum += owed.log_done_after(later + before_end(earlier_ + i + 1), g_.round);
    counted = std::max(each, some);
  }
  if (counted < all) sum += static_cast<double>(all - counted) * owed.log_done(0);
  return sum;
}

double Tail::in_flight(int64_t later) const {
  if (in_flight_ == 0) return 0;
  const int64_t repeats = later / g_.round;
  const double more = static_cast<double>(later % g_.round) / static_cast<double>(g_.round);
  double sum = (1 - more) * packet_.log_done(repeats);
  if (more > 0) sum += more * packet_.log_done(repeats + 1);
  return in_flight_ * sum;
}

double Tail::log_done(int64_t later) const {
  return full_groups(later) + g_.last.owed.log_done_after(later, g_.round) + in_flight(later);
}

/// Of 1 - P(done), over the packet times of one round: added up one by one, or by the midpoints of pieces.
double Tail::mean_of_round(int64_t first, int64_t pieces) const {
  double sum = 0;
  for (int64_t i = 0; i < pieces; ++i) {
    const int64_t from = first + i * g_.round / pieces, to = first + (i + 1) * g_.round / pieces;
    sum += static_cast<double>(to - from) * -std::expm1(log_done(from + (to - from) / 2));
  }
  return sum;
}

double Tail::mean() const {
  constexpr double kNothing = 1e-12;
  // Where many rounds matter, each changes little.
  constexpr int64_t kMostPieces = 256, kLeastPieces = 8, kAllPieces = 4096;
  double sum = 0;
  for (int64_t n = 0;; ++n) {
    const int64_t first = n * g_.round;
    if (-std::expm1(log_done(first)) < kNothing) return sum;
    if (std::exp(log_done(first + g_.round - 1)) < kNothing) {
      sum += static_cast<double>(g_.round);
      continue;
    }
    const int64_t pieces = std::clamp(kAllPieces / (n + 1), kLeastPieces, kMostPieces);
    sum += mean_of_round(first, std::min(pieces, g_.round));
  }
}

}  // namespace matchrdma::planner
