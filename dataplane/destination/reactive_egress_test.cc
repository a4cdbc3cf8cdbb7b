#include "dataplane/destination/reactive_egress.h"

#include <gtest/gtest.h>

namespace matchrdma {
namespace {

constexpr Rate gbps(int64_t n) { return Rate{n * 1'000'000'000}; }

TEST(ReactiveEgress, ACnpCutsBelowWhatTheReceiverTakes) {
  ReactiveEgress e(gbps(100), 150'000);
  EXPECT_EQ(e.rate(), gbps(100));
  e.cnp(gbps(60));
  EXPECT_EQ(e.rate(), gbps(51));
  EXPECT_TRUE(e.tightened());
  e.cnp(gbps(40));
  EXPECT_EQ(e.rate(), gbps(34));
}

TEST(ReactiveEgress, LineRateAgainBelowHalfTheTarget) {
  ReactiveEgress e(gbps(100), 150'000);
  e.cnp(gbps(60));
  e.queue(150'000);
  EXPECT_EQ(e.rate(), gbps(51)) << "no way up by steps";
  e.queue(149'999);
  EXPECT_EQ(e.rate(), gbps(100));
  EXPECT_FALSE(e.tightened());
}

TEST(ReactiveEgress, NeverToNothing) {
  ReactiveEgress e(gbps(100), 150'000);
  e.cnp(Rate{0});
  EXPECT_EQ(e.rate(), gbps(1));
  e.cnp(Rate{-5});
  EXPECT_EQ(e.rate(), gbps(1));
  e.cnp(Rate{INT64_MAX});
  EXPECT_EQ(e.rate(), gbps(85));
}

}  // namespace
}  // namespace matchrdma
