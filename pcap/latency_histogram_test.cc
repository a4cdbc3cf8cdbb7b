#include "pcap/latency_histogram.h"

#include <gtest/gtest.h>

namespace matchrdma {
namespace {

TEST(LatencyHistogram, SmallValuesAreExact) {
  LatencyHistogram h;
  for (int i = 1; i <= 100; ++i) h.add(Duration{i});
  EXPECT_EQ(h.percentile(50), 50);
  EXPECT_EQ(h.percentile(99), 99);
  EXPECT_EQ(h.max(), 100);
  EXPECT_EQ(h.samples(), 100u);
}

TEST(LatencyHistogram, LargeValuesWithinOneIn2048) {
  for (const int64_t v : {4095ll, 4096ll, 8191ll, 8192ll, 10'000'123ll, 1'000'000'000'007ll}) {
    LatencyHistogram h;
    h.add(Duration{v});
    h.add(Duration{v * 4});
    EXPECT_GE(h.percentile(50), v);
    EXPECT_LE(h.percentile(50), v + v / 2048 + 1);
    EXPECT_EQ(h.max(), v * 4);
  }
}

TEST(LatencyHistogram, NeverAboveTheMaximum) {
  LatencyHistogram h;
  h.add(Duration{1'000'001});
  EXPECT_EQ(h.percentile(50), 1'000'001);
  EXPECT_EQ(h.percentile(99), 1'000'001);
}

TEST(LatencyHistogram, Empty) {
  const LatencyHistogram h;
  EXPECT_EQ(h.samples(), 0u);
  EXPECT_EQ(h.percentile(50), 0);
}

}  // namespace
}  // namespace matchrdma
