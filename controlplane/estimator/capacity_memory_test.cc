#include "controlplane/estimator/capacity_memory.h"

#include <gtest/gtest.h>

#include <memory>

#include "controlplane/estimator/censored_run.h"

namespace matchrdma {
namespace {

const Scale kScale{EstimatorSettings{}};

RateSample saturated(double r) { return {.kind = SampleKind::kSaturated, .rate = r, .acked = r}; }
RateSample censored(double acked) { return {.rate = acked, .acked = acked, .limited = true}; }

TEST(CapacityMemory, KeepsTheLastSlotsInOnePiece) {
  auto m = std::make_unique<CapacityMemory>();
  m->restart(1000);
  for (int i = 0; i < 3 * CapacityMemory::kSlots / 2; ++i) m->push(i);
  EXPECT_EQ(m->size(), CapacityMemory::kSlots);
  EXPECT_EQ(m->end(), 1000 + 3 * CapacityMemory::kSlots / 2);
  const float* all = m->from(m->begin());
  for (int64_t i = 0; i < m->size(); ++i) {
    ASSERT_EQ(static_cast<double>(all[i]), static_cast<double>(m->begin() + i - 1000));
  }
  m->set(m->begin() + 5, -1);
  EXPECT_EQ(m->at(m->begin() + 5), -1);
  EXPECT_EQ(static_cast<double>(all[5]), -1);
}

class CensoredRunTest : public ::testing::Test {
 protected:
  /// One slot as a group feeds it.
  void slot(const RateSample& s, double forecast, bool recurrent = true) {
    run_.observe(s, memory_->end(), forecast, recurrent, *memory_);
    memory_->push(s.rate);
  }
  std::unique_ptr<CapacityMemory> memory_ = std::make_unique<CapacityMemory>();
  CensoredRun run_{kScale};
};

TEST_F(CensoredRunTest, EndingInSaturationTheWholeRunIsRaised) {
  slot(saturated(30), 30, false);
  for (int i = 0; i < 5; ++i) slot(censored(30 + i), 30, false);
  slot(saturated(90), 30, false);
  EXPECT_EQ(memory_->at(0), 30);
  for (int i = 1; i < 6; ++i) EXPECT_EQ(memory_->at(i), 90);
}

TEST_F(CensoredRunTest, NotIfTheRunHadMore) {
  for (int i = 0; i < 5; ++i) slot(censored(80), 80, false);
  slot(saturated(60), 80, false);  // the capacity fell within the run, nobody knows when
  for (int i = 0; i < 5; ++i) EXPECT_EQ(memory_->at(i), 80);
}

TEST_F(CensoredRunTest, AFallingEdgeStaysWhereItWasForecastTwoSlotsLater) {
  for (int i = 0; i < 5; ++i) slot(censored(88), 90);
  for (int i = 0; i < 6; ++i) slot(censored(29), 30);
  memory_->set(8, 45);  // what exploring there had assumed
  slot(saturated(30), 30);
  EXPECT_EQ(memory_->at(4), 88.0f);
  EXPECT_EQ(memory_->at(6), 29);
  EXPECT_EQ(memory_->at(8), 30);
  EXPECT_EQ(memory_->at(10), 30);
}

TEST_F(CensoredRunTest, TheEdgeKeepsItsTwoSlots) {
  slot(censored(88), 90);
  for (int i = 0; i < 6; ++i) slot(censored(29), 30);
  for (int64_t i = 1; i < 7; ++i) memory_->set(i, 80);
  slot(saturated(30), 30);
  EXPECT_EQ(memory_->at(1), 80);
  EXPECT_EQ(memory_->at(2), 80);
  for (int64_t i = 3; i < 7; ++i) EXPECT_EQ(memory_->at(i), 30);
}

TEST_F(CensoredRunTest, WithoutAPeriodThereIsNoEdge) {
  slot(censored(88), 90, false);
  for (int i = 0; i < 6; ++i) slot(censored(29), 30, false);
  for (int64_t i = 1; i < 7; ++i) memory_->set(i, 80);
  slot(saturated(30), 30, false);
  for (int64_t i = 1; i < 7; ++i) EXPECT_EQ(memory_->at(i), 80);
}

}  // namespace
}  // namespace matchrdma
