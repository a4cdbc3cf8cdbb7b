#include "proxy/units.h"

#include <gtest/gtest.h>

namespace matchrdma {
namespace {

TEST(Units, Rates) {
  EXPECT_EQ(parse_rate("--rate", "100Gbps")->bps, 100'000'000'000);
  EXPECT_EQ(parse_rate("--rate", "25G")->bps, 25'000'000'000);
  EXPECT_EQ(parse_rate("--rate", "400 Mbit/s")->bps, 400'000'000);
  EXPECT_EQ(parse_rate("--rate", "1000000000")->bps, 1'000'000'000);
  EXPECT_EQ(parse_rate("--rate", "2.5Gb/s")->bps, 2'500'000'000);
  for (const char* bad : {"", "fast", "0", "-1G", "1Gfoo", "1e30", "nan", "100GBps"})
    EXPECT_FALSE(parse_rate("--rate", bad).ok()) << bad;
}

TEST(Units, Durations) {
  EXPECT_EQ(parse_duration("--cut", "10ms")->ns, 10'000'000);
  EXPECT_EQ(parse_duration("--cut", "1.5s")->ns, 1'500'000'000);
  EXPECT_EQ(parse_duration("--cut", "250us")->ns, 250'000);
  EXPECT_EQ(parse_duration("--cut", "0.02")->ns, 20'000'000);
  for (const char* bad : {"", "ms", "-1ms", "1min", "1e9s"})
    EXPECT_FALSE(parse_duration("--cut", bad).ok()) << bad;
}

TEST(Units, Probabilities) {
  EXPECT_DOUBLE_EQ(*parse_probability("--loss", "0.01"), 0.01);
  EXPECT_DOUBLE_EQ(*parse_probability("--loss", "1%"), 0.01);
  EXPECT_DOUBLE_EQ(*parse_probability("--loss", "1"), 1);
  for (const char* bad : {"", "1.1", "-0.1", "101%", "0.1x", "inf"})
    EXPECT_FALSE(parse_probability("--loss", bad).ok()) << bad;
}

TEST(Units, ErrorsNameOptionValueAndRemedy) {
  const std::string text = parse_rate("--budget", "fast").error();
  EXPECT_NE(text.find("--budget fast"), std::string::npos) << text;
  EXPECT_NE(text.find("100Gbps"), std::string::npos) << text;
}

}  // namespace
}  // namespace matchrdma
