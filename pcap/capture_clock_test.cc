#include "pcap/capture_clock.h"

#include <gtest/gtest.h>

namespace matchrdma {
namespace {

/// Steady seconds of packets that are stamped with these.
std::vector<int64_t> steady(const std::vector<int64_t>& seconds) {
  CaptureClock clock;
  std::vector<int64_t> out;
  for (size_t i = 0; i < seconds.size(); ++i) {
    const auto t = clock.steady({Instant{seconds[i] * 1'000'000'000}, {}, 0, i});
    if (!t) {
      EXPECT_NE(t.error().find("packet " + std::to_string(i + 1) + " "), std::string::npos) << t.error();
      out.push_back(-1);
      return out;
    }
    out.push_back(t->ns / 1'000'000'000);
  }
  return out;
}

using Seconds = std::vector<int64_t>;

TEST(CaptureClock, LongPausesAreCut) {
  EXPECT_EQ(steady({100, 160, 7360, 7361}), (Seconds{100, 160, 225, 226}));
}

TEST(CaptureClock, SmallDisorderStays) {
  EXPECT_EQ(steady({100, 102, 101, 103}), (Seconds{100, 102, 101, 103}));
}

// What was captured after it waits for nothing that the clock says is to come.
TEST(CaptureClock, SetBackItGoesOn) {
  EXPECT_EQ(steady({100, 4000, 3000, 3001}), (Seconds{100, 165, 165, 166}));
}

TEST(CaptureClock, AbsurdTimesAreRefused) {
  EXPECT_EQ(steady({100, int64_t{1} << 32}), (Seconds{100, -1}));
  EXPECT_EQ(steady({int64_t{1} << 32, 100}), (Seconds{int64_t{1} << 32, -1}));
}

}  // namespace
}  // namespace matchrdma
