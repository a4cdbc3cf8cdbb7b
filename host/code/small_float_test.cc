#include "host/code/small_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace matchrdma::host {
namespace {

TEST(SmallFloat, KnownValues) {
  EXPECT_EQ(from_f16(0x3c00), 1);
  EXPECT_EQ(from_f16(0xc000), -2);
  EXPECT_EQ(from_f16(0x7bff), 65504);
  EXPECT_EQ(from_f16(0x0001), 0x1p-24f);
  EXPECT_EQ(from_f16(0x03ff), 0x1.ff8p-15f);
  EXPECT_EQ(from_f16(0x0400), 0x1p-14f);
  EXPECT_EQ(from_f16(0xfc00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(from_f16(0x7e00)));
  EXPECT_TRUE(std::signbit(from_f16(0x8000)));
  EXPECT_EQ(to_f16(65520), 0x7c00) << "half way beyond the largest";
  EXPECT_EQ(to_f16(-1e10f), 0xfc00);
  EXPECT_EQ(to_f16(0x1p-25f), 0) << "half way, to even";
  EXPECT_EQ(to_f16(-0.0f), 0x8000);
  EXPECT_EQ(from_bf16(0x3f80), 1);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()), 0x7f80);
}

/// Each number of the type, what lies half way to the next, and beside that. IEEE 754 section 4.3.1.
template <class From, class To>
void rounds_to_nearest_even(From from, To to, uint16_t infinity) {
  for (uint16_t h = 0; h < infinity; ++h) {
    const float here = from(h);
    ASSERT_EQ(to(here), h);
    ASSERT_EQ(to(-here), h | 0x8000);
    if (h + 1 == infinity) return;
    const float next = from(static_cast<uint16_t>(h + 1)), middle = here + (next - here) / 2;
    ASSERT_LT(here, next);
    ASSERT_EQ(to(middle), h % 2 == 0 ? h : h + 1) << h;
    ASSERT_EQ(to(std::nextafter(middle, here)), h);
    ASSERT_EQ(to(std::nextafter(middle, next)), h + 1);
  }
}

TEST(SmallFloat, RoundsToNearestEven) {
  rounds_to_nearest_even(from_f16, to_f16, 0x7c00);
  rounds_to_nearest_even(from_bf16, to_bf16, 0x7f80);
}

}  // namespace
}  // namespace matchrdma::host
