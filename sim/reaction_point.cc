#include "sim/reaction_point.h"

#include <algorithm>

namespace matchrdma::sim {
namespace {

constexpr double kMbps = 1e6;
// The check of the forks runs 1 ns behind the alpha timer, so that it sees the newer alpha.
constexpr SimSpan kBehindAlpha = SimSpan::nanos(1);

}  // namespace

ReactionSettings ReactionSettings::hpcc() {
  ReactionSettings s;
  s.alpha_interval = SimSpan::micros(1);
  s.decrease_interval = SimSpan::micros(4);
  s.increase_interval = SimSpan::micros(300);
  s.additive_increase = 20 * kMbps;
  s.hyper_increase = 200 * kMbps;
  s.least_rate = 1000 * kMbps;
  return s;
}

ReactionSettings ReactionSettings::hpcc_paper() {
  ReactionSettings s = hpcc();
  s.alpha_interval = SimSpan::micros(50);
  s.decrease_interval = SimSpan::micros(50);
  s.increase_interval = SimSpan::micros(55);
  return s;
}

ReactionSettings ReactionSettings::themis() {
  ReactionSettings s = hpcc();
  s.increase_interval = SimSpan::micros(900);
  s.additive_increase = 50 * kMbps;
  s.hyper_increase = 100 * kMbps;
  s.least_rate = 100 * kMbps;
  return s;
}

void ReactionPoint::on_cnp(SimTime now) {
  if (!started_) {
    started_ = true;
    alpha_ = 1;
    target_ = rate_;
    alpha_at_ = now + s_.alpha_interval;
    check_origin_ = now + kBehindAlpha;
  }
  update_alpha(now);
  cnp_in_interval_ = true;
  if (!cut_at_.is_never()) return;
  const int64_t passed = std::max<int64_t>((now - check_origin_).ps, 0) / s_.decrease_interval.ps;
  cut_at_ = check_origin_ + s_.decrease_interval * (passed + 1);
}

void ReactionPoint::run(SimTime now) {
  if (cut_at_ <= now) cut(now);
  if (raise_at_ <= now) raise(now);
}

void ReactionPoint::update_alpha(SimTime now) {
  while (alpha_at_ <= now) {
    alpha_ = (1 - s_.gain) * alpha_ + (cnp_in_interval_ ? s_.gain : 0);
    cnp_in_interval_ = false;
    alpha_at_ = alpha_at_ + s_.alpha_interval;
  }
}

void ReactionPoint::cut(SimTime now) {
  update_alpha(now);
  cut_at_ = SimTime::never();
  if (s_.clamp_target || raised_since_cut_) target_ = rate_;
  rate_ = std::max(s_.least_rate, rate_ * (1 - alpha_ / 2));
  stage_ = 0;
  raised_since_cut_ = false;
  raise_at_ = now + s_.increase_interval;
}

void ReactionPoint::raise(SimTime now) {
  if (stage_ == s_.fast_recovery_stages) target_ += s_.additive_increase;
  if (stage_ > s_.fast_recovery_stages) target_ += s_.hyper_increase;
  target_ = std::min(target_, line_);
  rate_ = (rate_ + target_) / 2;
  ++stage_;
  raised_since_cut_ = true;
  // At line rate there is nothing left to raise, and the next cut restarts the timer.
  raise_at_ = rate_ < line_ ? now + s_.increase_interval : SimTime::never();
}

}  // namespace matchrdma::sim
