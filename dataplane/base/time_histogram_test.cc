#include "dataplane/base/time_histogram.h"

#include <gtest/gtest.h>

namespace matchrdma {
namespace {

TEST(TimeHistogram, BoundsAreInclusiveAndDouble) {
  for (size_t i = 0; i < TimeHistogram::kBounds; ++i) {
    TimeHistogram h;
    h.add(TimeHistogram::bound(i));
    EXPECT_EQ(h.in_bucket(i), 1u) << i;
    h.add(TimeHistogram::bound(i) + Duration::nanos(1));
    EXPECT_EQ(h.in_bucket(i + 1), 1u) << i;
    EXPECT_EQ(TimeHistogram::bound(i).ns, int64_t{1024} << i);
  }
}

TEST(TimeHistogram, EdgesOfTimeStayInside) {
  TimeHistogram h;
  h.add(Duration::nanos(0));
  h.add(Duration::nanos(-5));  // counts as none
  h.add(Instant::never() - Instant{});
  EXPECT_EQ(h.in_bucket(0), 2u);
  EXPECT_EQ(h.in_bucket(TimeHistogram::kBuckets - 1), 1u);
  EXPECT_EQ(h.samples(), 3u);
  EXPECT_EQ(h.sum_ns(), static_cast<uint64_t>(INT64_MAX));
}

TEST(TimeHistogram, AddsUp) {
  TimeHistogram a, b;
  a.add(Duration::micros(1));
  b.add(Duration::micros(1));
  b.add(Duration::millis(3));
  a.add(b);
  EXPECT_EQ(a.samples(), 3u);
  EXPECT_EQ(a.in_bucket(0), 2u);
  EXPECT_EQ(a.sum_ns(), 3'002'000u);
}

}  // namespace
}  // namespace matchrdma
