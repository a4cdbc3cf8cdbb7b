// Budgets in a closed loop: the destination's Shard sees a receiver whose capacity is a square wave, the
// estimator foresees it, the source's Shard injects no more. Line 200 Mb/s, slot 2 ms, 1000 km, 120/40 Mb/s of
// 200 ms.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "dataplane/flow/queue_target.h"
#include "sim/swarm/world.h"

namespace matchrdma::swarm {
namespace {

constexpr Duration kSlot = Duration::millis(2), kOneWay = Duration::millis(5), kWave = Duration::millis(200);
constexpr Rate kHigh{120'000'000}, kLow{40'000'000}, kLine{200'000'000};
constexpr uint64_t kQueueTarget = 16 * 1100;
constexpr Duration kFrom = Duration::millis(2200),
                   kTo = Duration::millis(4200);  // whole periods, after the learning

Options wave_options() {
  Options o;
  o.seed = 7;
  o.wan.delay = o.control.delay = kOneWay;
  o.lan.delay = Duration::micros(5);
  o.host.tx_rate = kLine;
  o.tuning.egress = kHigh;
  o.tuning.egress_burst_bytes = 4096;
  o.low_egress = kLow;
  o.wave = kWave;
  o.tuning.budget = kLine;
  o.tuning.budget_burst_bytes = 16 << 10;
  o.tuning.queue_target = kQueueTarget;
  o.tuning.slot = kSlot;
  o.estimator = EstimatorSettings{kSlot, kLine, Scheme::kEarned, kQueueTarget};
  PairOptions p;
  p.pair.path.src = IpAddress{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1}};
  p.pair.path.dst = IpAddress{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 2}};
  p.pair.requester_a.window_psns = 0;
  p.pair.memory_a.size = p.pair.memory_b.size = 1 << 20;
  p.work_a = 3000;
  p.max_length = 64 << 10;
  p.reads = p.atomics = p.sends = false;
  o.pairs.push_back(p);
  return o;
}

/// What the receiver could have taken between two times of the wave, bytes. It begins low.
double capacity(Duration from, Duration to) {
  double bytes = 0;
  const int64_t step = 100'000, half = kWave.ns / 2;
  for (int64_t t = from.ns; t < to.ns; t += step) {
    const Rate r = (t / half) % 2 == 0 ? kLow : kHigh;
    bytes += static_cast<double>(r.bps) / 8e9 * static_cast<double>(step);
  }
  return bytes;
}

struct Seen {
  double delivered = 0;       ///< bytes, between kFrom and kTo
  uint64_t peak = 0;          ///< backlog at the destination, whole run
  uint64_t learned_peak = 0;  ///< the same from kFrom on
  std::string complaint;
  double utilisation() const { return delivered / capacity(kFrom, kTo); }
};

Seen run(const Options& o) {
  World w(o);
  Seen seen;
  w.watch_slots([&](Duration at, std::span<const GroupSlot> slots, const BudgetMaker*) {
    for (const GroupSlot& s : slots) {
      if (at <= kTo) seen.peak = std::max(seen.peak, s.record.backlog_bytes);
      if (at <= kFrom || at > kTo) continue;
      seen.learned_peak = std::max(seen.learned_peak, s.record.backlog_bytes);
      seen.delivered += static_cast<double>(s.record.acked_bytes);
    }
  });
  seen.complaint = w.run();
  return seen;
}

TEST(Budgets, ASquareWaveIsForeseen) {
  const Seen s = run(wave_options());
  EXPECT_EQ(s.complaint, "");
  EXPECT_GE(s.utilisation(), 0.95);
  // ESTIMATOR 7: a drop that nobody could foresee costs drop x (2D + 2 slots); once it is foreseen, less than
  // half.
  const double drop = static_cast<double>(kHigh.bps - kLow.bps) / 8e9;
  const double bound = drop * static_cast<double>((kOneWay * 2 + kSlot * 2).ns) + 2.0 * kQueueTarget;
  EXPECT_LE(static_cast<double>(s.peak), bound);
  EXPECT_LE(static_cast<double>(s.learned_peak), bound / 2);
  RecordProperty("utilisation_percent", static_cast<int>(100 * s.utilisation()));
}

TEST(Budgets, FixedOnesPileUp) {
  Options o = wave_options();
  o.no_budgets = {Instant{} - Duration::seconds(1), Instant{} + Duration::seconds(1000)};
  const Seen s = run(o);
  EXPECT_EQ(s.complaint, "");
  EXPECT_GT(s.learned_peak, 1'000'000u) << "otherwise the wave tests nothing";
}

TEST(Budgets, AFifthOfThemMayBeLost) {
  Options o = wave_options();
  const Seen all = run(o);
  o.budget_loss = 0.2;
  const Seen some = run(o);
  EXPECT_EQ(some.complaint, "");
  EXPECT_NEAR(some.utilisation(), all.utilisation(), 0.02);
}

/// Most bytes that stood in the receiver's network after it turned slow, when a slot of 200 us ended, over a
/// span of 1 km: it takes 10 Gb/s and 2.5 Gb/s in turn, too few times to be foreseen. The mean of three such
/// edges.
double queue_behind(bool looks) {
  const Rate line{10'000'000'000};
  Options o = wave_options();
  o.wan.delay = o.control.delay = Duration::micros(5);
  o.timing.initial_rtt = o.wan.delay * 2;
  o.host.tx_rate = o.tuning.egress = o.tuning.budget = line;
  o.pairs[0].work_a = 6000;
  o.wave_behind = true;
  o.low_egress = Rate{2'500'000'000};
  o.wave = Duration::millis(70);
  o.tuning.slot = Duration::micros(200);
  o.tuning.queue_target = usual_queue_target(line);
  o.estimator = EstimatorSettings{o.tuning.slot, line, Scheme::kEarned, o.tuning.queue_target};
  o.looks = looks;
  World w(o);
  std::array<uint64_t, 3> most{};
  w.watch_slots([&](Duration at, std::span<const GroupSlot> slots, const BudgetMaker*) {
    const auto edge = static_cast<size_t>((at.ns - o.wave.ns / 2) / o.wave.ns);
    if (at < o.wave / 2 || edge >= most.size()) return;
    for (const GroupSlot& s : slots) most[edge] = std::max(most[edge], s.record.unacked_bytes);
  });
  EXPECT_EQ(w.run(), "");
  return static_cast<double>(most[0] + most[1] + most[2]) / 3;
}

// ESTIMATOR 9: a receiver that turned slow is not fed for the rest of the slot.
TEST(Budgets, OverAShortSpanTheyAreLoweredWithinTheSlot) {
  const double with = queue_behind(true), without = queue_behind(false);
  RecordProperty("queue_bytes", static_cast<int>(with));
  RecordProperty("queue_bytes_without", static_cast<int>(without));
  EXPECT_LT(with, without * 0.75) << with << " of " << without;
}

// Without any BUDGET the source comes down to the floor; it is back three round trips after the first.
TEST(Budgets, WithoutAnyTheSourceDecays) {
  Options o = wave_options();
  o.wave = {};
  o.tuning.egress = kHigh;
  const Duration dark = Duration::millis(1500), light = Duration::millis(2500);
  o.no_budgets = {Instant{} + dark, Instant{} + light};
  World w(o);
  double at_the_floor = 0, before = 0, after = 0;
  w.watch_slots([&](Duration at, std::span<const GroupSlot> slots, const BudgetMaker*) {
    for (const GroupSlot& s : slots) {
      const auto bytes = static_cast<double>(s.record.arrived_bytes);
      if (at > dark - Duration::millis(200) && at <= dark) before += bytes;
      if (at > light - Duration::millis(200) && at <= light) at_the_floor += bytes;
      const Duration back = light + kOneWay * 6;
      if (at > back && at <= back + Duration::millis(200)) after += bytes;
    }
  });
  EXPECT_EQ(w.run(), "");
  const double per_second = 5;
  EXPECT_NEAR(at_the_floor * per_second * 8, static_cast<double>(kLine.bps) / 100, 400'000);
  EXPECT_GT(before * per_second * 8, 110e6);
  EXPECT_GT(after * per_second * 8, 0.95 * before * per_second * 8);
}

}  // namespace
}  // namespace matchrdma::swarm
