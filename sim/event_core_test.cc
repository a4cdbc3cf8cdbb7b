#include "sim/event_core.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "dataplane/base/prng.h"
#include "sim/sim_packet.h"
#include "sim/timer.h"

namespace matchrdma::sim {
namespace {

class Log final : public EventHandler {
 public:
  void on_event(SimTime now, uint64_t argument) override { seen.emplace_back(now.ps, argument); }
  std::vector<std::pair<int64_t, uint64_t>> seen;
};

TEST(EventCore, EqualTimesLeaveInOrderOfScheduling) {
  EventCore core;
  Log log;
  Prng prng(7);
  std::vector<std::pair<int64_t, uint64_t>> expected;
  for (uint64_t i = 0; i < 10'000; ++i) {
    const int64_t at = prng.between(0, 99);
    core.schedule(SimTime{at}, log, i);
    expected.emplace_back(at, i);
  }
  std::stable_sort(expected.begin(), expected.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  while (core.run_one()) {
  }
  EXPECT_EQ(log.seen, expected);
  EXPECT_EQ(core.executed(), 10'000u);
}

/// Schedules up to three events from each, some for the same time.
class Breeder final : public EventHandler {
 public:
  explicit Breeder(EventCore& core) : core_(core) {}
  void breed(SimTime now) {
    for (uint64_t n = prng_.below(4); n > 0 && born_ < 20'000; --n) {
      const SimTime at = now + SimSpan{prng_.between(0, 50)};
      expected_.emplace(std::pair{at.ps, born_}, born_);
      core_.schedule(at, *this, born_++);
    }
  }
  void on_event(SimTime now, uint64_t argument) override {
    ASSERT_EQ(expected_.begin()->first.first, now.ps);
    ASSERT_EQ(expected_.begin()->second, argument);
    expected_.erase(expected_.begin());
    breed(now);
    ASSERT_EQ(core_.pending(), expected_.size());
  }
  size_t left() const { return expected_.size(); }
  uint64_t born() const { return born_; }

 private:
  EventCore& core_;
  Prng prng_{5};
  uint64_t born_ = 0;
  std::map<std::pair<int64_t, uint64_t>, uint64_t> expected_;
};

TEST(EventCore, HandlersScheduleInOrderToo) {
  EventCore core;
  Breeder breeder(core);
  while (breeder.born() < 100) breeder.breed(SimTime{});
  while (core.run_one()) {
  }
  EXPECT_EQ(breeder.left(), 0u);
  EXPECT_EQ(breeder.born(), 20'000u);
}

TEST(EventCore, RunUntilIncludesItsEnd) {
  EventCore core;
  Log log;
  for (const int64_t at : {5, 10, 11}) core.schedule(SimTime{at}, log);
  core.run_until(SimTime{10});
  EXPECT_EQ(log.seen.size(), 2u);
  EXPECT_EQ(core.now(), SimTime{10});
  core.run_until(SimTime{20});
  EXPECT_EQ(core.now(), SimTime{20});
  EXPECT_TRUE(core.next_due().is_never());
}

TEST(EventCoreDeath, NothingHappensInThePast) {
  EventCore core;
  Log log;
  core.run_until(SimTime{10});
  EXPECT_DEATH(core.schedule(SimTime{9}, log), "at >= now_");
}

TEST(Timer, FiresOnceAtItsLastDeadline) {
  EventCore core;
  Log log;
  Timer timer(core, log, 42);
  for (int64_t at = 10; at < 1000; ++at) timer.set(SimTime{at});  // moves back: one event
  EXPECT_EQ(core.pending(), 1u);
  timer.set(SimTime{500});
  core.run_until(SimTime{2000});
  EXPECT_EQ(log.seen, (std::vector<std::pair<int64_t, uint64_t>>{{500, 42}}));
  EXPECT_TRUE(timer.deadline().is_never());
}

TEST(Timer, MovesForwardAndStops) {
  EventCore core;
  Log log;
  Timer timer(core, log, 1);
  timer.set(SimTime{100});
  timer.set(SimTime{50});
  core.run_until(SimTime{70});
  timer.set(SimTime{100});  // while the event of the first deadline is still in the core
  core.run_until(SimTime{100});
  EXPECT_EQ(log.seen, (std::vector<std::pair<int64_t, uint64_t>>{{50, 1}, {100, 1}}));
  timer.set(SimTime{150});
  timer.set(SimTime::never());
  core.run_until(SimTime{1000});
  EXPECT_EQ(log.seen.size(), 2u);
}

TEST(SimPacketPool, GivesBackWhatWasReturnedAndClean) {
  SimPacketPool pool;
  SimPacket* first = pool.alloc();
  first->ce = true;
  first->seq = 9;
  pool.release(first);
  const size_t before = pool.capacity();
  std::vector<SimPacket*> all;
  for (size_t i = 0; i < before; ++i) all.push_back(pool.alloc());
  EXPECT_EQ(pool.capacity(), before);
  EXPECT_EQ(all[0], first);
  EXPECT_FALSE(first->ce);
  EXPECT_EQ(first->seq, 0);
  EXPECT_EQ(pool.in_use(), before);
}

TEST(Tick, SerialisesExactlyOrTruncates) {
  const Rate r{100'000'000'000};
  EXPECT_EQ(Tick{1}.serialise(1048, r).ps, 83'840);
  EXPECT_EQ(Tick{1000}.serialise(1048, r).ps, 83'000);  // SIMULATOR 1
  EXPECT_EQ(Tick{1000}.serialise(60, r).ps, 4'000);
  EXPECT_EQ(Tick{1}.serialise(1, Rate{1'600'000'000'000}).ps, 5);
  EXPECT_EQ(Tick{1}.serialise(1000, 1e9).ps, 8'000'000);
}

}  // namespace
}  // namespace matchrdma::sim
