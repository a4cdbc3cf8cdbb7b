#include "sim/reaction_point.h"

#include <gtest/gtest.h>

namespace matchrdma::sim {
namespace {

constexpr double kLine = 100e9;

SimTime at_us(double us) { return SimTime{static_cast<int64_t>(us * 1e6)}; }

/// Runs all timers up to `end`.
void run_to(ReactionPoint& rp, SimTime end) {
  while (rp.next_timer() <= end) rp.run(rp.next_timer());
}

TEST(ReactionPoint, StartsAtLineRateAndSleeps) {
  const ReactionPoint rp(ReactionSettings::hpcc(), kLine);
  EXPECT_EQ(rp.rate(), kLine);
  EXPECT_TRUE(rp.next_timer().is_never());
}

TEST(ReactionPoint, FirstCutIsOneIntervalBehindTheFirstCnp) {
  ReactionPoint rp(ReactionSettings::hpcc(), kLine);
  rp.on_cnp(at_us(10));
  EXPECT_EQ(rp.next_timer(), at_us(14.001));  // T_d = 4 us, 1 ns behind the alpha timer
  EXPECT_EQ(rp.rate(), kLine);
  run_to(rp, at_us(14.001));
  // Of four alpha intervals the first saw the CNP, three decayed alpha.
  const double alpha = 255.0 / 256 * 255 / 256 * 255 / 256;
  EXPECT_DOUBLE_EQ(rp.alpha(), alpha);
  EXPECT_DOUBLE_EQ(rp.rate(), kLine * (1 - alpha / 2));
  EXPECT_EQ(rp.target(), kLine);
}

TEST(ReactionPoint, CnpsWithinOneIntervalCountOnce) {
  ReactionPoint one(ReactionSettings::hpcc_paper(), kLine), many(ReactionSettings::hpcc_paper(), kLine);
  one.on_cnp(at_us(10));
  for (int i = 0; i < 40; ++i) many.on_cnp(at_us(10 + i));
  run_to(one, at_us(60.001));
  run_to(many, at_us(60.001));
  EXPECT_LT(one.rate(), kLine);
  EXPECT_EQ(one.rate(), many.rate());
}

TEST(ReactionPoint, ChecksKeepTheirPhase) {
  ReactionPoint rp(ReactionSettings::hpcc(), kLine);
  rp.on_cnp(at_us(10));
  run_to(rp, at_us(20));
  rp.on_cnp(at_us(21));  // checks at 14.001, 18.001, 22.001
  EXPECT_EQ(rp.next_timer(), at_us(22.001));
}

TEST(ReactionPoint, TargetStaysUntilAnIncrease) {
  ReactionSettings s = ReactionSettings::hpcc();
  ReactionPoint kept(s, kLine);
  s.clamp_target = true;
  ReactionPoint clamped(s, kLine);
  for (ReactionPoint* rp : {&kept, &clamped}) {
    rp->on_cnp(at_us(10));
    run_to(*rp, at_us(15));
  }
  const double once = kept.rate();
  for (ReactionPoint* rp : {&kept, &clamped}) {
    rp->on_cnp(at_us(16));
    run_to(*rp, at_us(19));
  }
  EXPECT_EQ(kept.target(), kLine);
  EXPECT_EQ(clamped.target(), once);
}

TEST(ReactionPoint, RecoversThenAddsThenAddsMore) {
  ReactionPoint rp(ReactionSettings::hpcc(), kLine);
  for (int i = 0; i < 40; ++i) {
    rp.on_cnp(at_us(10 + 4 * i));
    run_to(rp, at_us(14.001 + 4 * i));
  }
  EXPECT_DOUBLE_EQ(rp.rate(), 1e9);  // R_min
  const double cut_at = 14.001 + 4 * 39;
  run_to(rp, at_us(cut_at + 300));  // F = 1: the first stage recovers
  EXPECT_DOUBLE_EQ(rp.rate(), (1e9 + kLine) / 2);
  rp.on_cnp(at_us(cut_at + 301));  // after an increase a cut moves the target
  run_to(rp, at_us(cut_at + 304));
  const double target = (1e9 + kLine) / 2, cut = rp.rate();
  EXPECT_DOUBLE_EQ(rp.target(), target);
  const double again = cut_at + 304;
  run_to(rp, at_us(again + 300));
  EXPECT_DOUBLE_EQ(rp.rate(), (cut + target) / 2);
  run_to(rp, at_us(again + 600));
  EXPECT_DOUBLE_EQ(rp.target(), target + 20e6);
  run_to(rp, at_us(again + 900));
  EXPECT_DOUBLE_EQ(rp.target(), target + 220e6);
}

TEST(ReactionPoint, StopsAtLineRate) {
  ReactionPoint rp(ReactionSettings::hpcc(), kLine);
  rp.on_cnp(at_us(10));
  run_to(rp, at_us(1e6));
  EXPECT_EQ(rp.rate(), kLine);
  EXPECT_EQ(rp.target(), kLine);
  EXPECT_TRUE(rp.next_timer().is_never());
}

}  // namespace
}  // namespace matchrdma::sim
