#include "pcap/make/iterations.h"

namespace matchrdma {
namespace {

/// No two iterations take the same time, and the threads of a host do not post at the same instant.
constexpr int64_t kComputeJitter = 50;  ///< at most one part in so many, either way
constexpr Duration kPostJitter = Duration::micros(3);

}  // namespace

Iterations::Iterations(const TraceRecipe& r, std::vector<Lane>& lanes, uint64_t seed, Instant now)
    : r_(r),
      lanes_(lanes),
      prng_(seed),
      burst_(make_burst(r, lanes, prng_.next())),
      lane_begins_(lanes.size()) {
  if (r.duration.ns > 0) end_ = now + r.duration / lives(r);
  compute(now);
}

void Iterations::compute(Instant now) {
  const int64_t jitter = r_.compute.ns / kComputeJitter;
  burst_at_ = now + r_.compute + Duration{prng_.between(-jitter, jitter)};
  const bool enough = r_.iterations > 0 && done_ == r_.iterations;
  phase_ = enough || burst_at_ > end_ ? Phase::kFinished : Phase::kCompute;
}

void Iterations::begin_burst(Instant now) {
  phase_ = Phase::kBurst;
  target_ += kMessages;
  for (Instant& at : lane_begins_) at = now + Duration{prng_.between(0, kPostJitter.ns)};
}

bool Iterations::burst_is_over() const {
  for (size_t i = 0; i < lanes_.size(); ++i)
    if (!burst_->complete(i, target_)) return false;
  return true;
}

void Iterations::run(Instant now) {
  ran_ = now;
  if (phase_ == Phase::kCompute && now >= burst_at_) begin_burst(now);
  if (phase_ != Phase::kBurst) return;
  for (size_t i = 0; i < lanes_.size(); ++i)
    if (now >= lane_begins_[i]) burst_->feed(i, target_, now);
  if (!burst_is_over()) return;
  ++done_;
  compute(now);
}

Instant Iterations::next() const {
  if (phase_ == Phase::kCompute) return burst_at_;
  Instant at = Instant::never();
  if (phase_ == Phase::kBurst)
    for (const Instant begins : lane_begins_)
      if (begins > ran_) at = earlier(at, begins);
  return at;
}

}  // namespace matchrdma
