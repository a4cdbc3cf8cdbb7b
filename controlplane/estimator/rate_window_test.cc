#include "controlplane/estimator/rate_window.h"

#include <gtest/gtest.h>

namespace matchrdma {
namespace {

TEST(RateWindow, EightEvenSlotsAreStable) {
  RateWindow w;
  EXPECT_EQ(w.kind(0), WindowKind::kNone);
  for (int i = 0; i < 7; ++i) w.add(60, i == 0);
  EXPECT_EQ(w.kind(0), WindowKind::kJitter);
  w.add(60, false);
  EXPECT_EQ(w.kind(0), WindowKind::kStable);
  w.add(90, true);
  EXPECT_EQ(w.kind(0), WindowKind::kJitter);
  EXPECT_EQ(w.slots(), 1);
}

TEST(RateWindow, UnevenOnesAreJitter) {
  RateWindow even, uneven;
  for (int i = 0; i < 20; ++i) even.add(i % 2 == 0 ? 52 : 68, false);    // coefficient 0.13
  for (int i = 0; i < 20; ++i) uneven.add(i % 2 == 0 ? 48 : 72, false);  // 0.2
  EXPECT_EQ(even.kind(0), WindowKind::kStable);
  EXPECT_EQ(uneven.kind(0), WindowKind::kJitter);
}

TEST(RateWindow, RecurrentIfItWasSoAPeriodAgo) {
  RateWindow w;
  for (int i = 0; i < 8; ++i) w.add(60, false);
  EXPECT_EQ(w.kind(66), WindowKind::kRecurrent);
  EXPECT_EQ(w.kind(30), WindowKind::kStable);
}

}  // namespace
}  // namespace matchrdma
