#include "config/units.h"

#include <gtest/gtest.h>

#include "config/words.h"

namespace matchrdma {
namespace {

TEST(Units, Rates) {
  EXPECT_EQ(parse_rate("--rate", "100Gbps")->bps, 100'000'000'000);
  EXPECT_EQ(parse_rate("--rate", "25G")->bps, 25'000'000'000);
  EXPECT_EQ(parse_rate("--rate", "400 Mbit/s")->bps, 400'000'000);
  EXPECT_EQ(parse_rate("--rate", "1000000000")->bps, 1'000'000'000);
  EXPECT_EQ(parse_rate("--rate", "2.5Gb/s")->bps, 2'500'000'000);
  EXPECT_EQ(parse_rate("--rate", "100gbps")->bps, 100'000'000'000);
  EXPECT_EQ(parse_rate("--rate", "1g")->bps, 1'000'000'000);
  EXPECT_FALSE(parse_rate("--rate", "400MBIT/S").ok());  // bytes or bits? nobody knows
  for (const char* bad : {"", "fast", "0", "-1G", "1Gfoo", "1e30", "nan", "100GBps"})
    EXPECT_FALSE(parse_rate("--rate", bad).ok()) << bad;
}

TEST(Units, Durations) {
  EXPECT_EQ(parse_duration("--cut", "10ms")->ns, 10'000'000);
  EXPECT_EQ(parse_duration("--cut", "1.5s")->ns, 1'500'000'000);
  EXPECT_EQ(parse_duration("--cut", "250us")->ns, 250'000);
  EXPECT_EQ(parse_duration("--cut", "0.02")->ns, 20'000'000);
  EXPECT_EQ(parse_duration("--cut", "5MS")->ns, 5'000'000);
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

TEST(Units, Distances) {
  EXPECT_DOUBLE_EQ(*parse_distance("--distance", "1000km"), 1000);
  EXPECT_DOUBLE_EQ(*parse_distance("--distance", "0.5"), 0.5);
  for (const char* bad : {"", "far", "-1", "100001", "10m"})
    EXPECT_FALSE(parse_distance("--distance", bad).ok()) << bad;
}

TEST(Units, Bytes) {
  EXPECT_EQ(*parse_bytes("--message", "65536"), 65536u);
  EXPECT_EQ(*parse_bytes("--message", "64K"), 65536u);
  EXPECT_EQ(*parse_bytes("--message", "1.5 MiB"), 1572864u);
  EXPECT_EQ(*parse_bytes("--message", "64k"), 65536u);
  EXPECT_EQ(*parse_bytes("--message", "1G"), 1073741824u);
  for (const char* bad : {"", "big", "-1", "0.3", "1e30", "64kx"})
    EXPECT_FALSE(parse_bytes("--message", bad).ok()) << bad;
}

TEST(Units, UnitsThatAreMissing) {
  const auto time = [](const std::string& text) {
    return parse_duration_between("--wait", text, Duration::millis(1), Duration::seconds(600));
  };
  EXPECT_EQ(time("5s")->ns, 5'000'000'000);
  EXPECT_EQ(time("5").error(), "--wait 5: has no unit; write 5ms or 5s");
  EXPECT_EQ(time("0.5").error(), "--wait 0.5: has no unit; write 500ms");
  EXPECT_EQ(time("5000000").error(), "--wait 5000000: has no unit; write 5s");
  EXPECT_EQ(time("1e12").error(), "--wait 1e12: has no unit; write a time like 500us, 2ms or 60s");
  EXPECT_EQ(time("601s").error(), "--wait 601s: out of range; choose 1ms to 600s");
  EXPECT_EQ(*parse_bytes_between("--bytes", "64K", 1, 1 << 20), 65536u);
  EXPECT_EQ(parse_bytes_between("--bytes", "512", 1, 1 << 20).error(),
            "--bytes 512: has no unit; write 512B or 512KiB");
  EXPECT_EQ(either({"a"}), "a");
  EXPECT_EQ(either({"a", "b", "c"}), "a, b or c");
  EXPECT_EQ(listed(std::vector<std::string>{}), "");
  EXPECT_EQ(listed(std::vector<std::string>{"a", "b"}), "a, b");
}

TEST(Units, WholeNumbers) {
  EXPECT_EQ(*parse_whole("--qps", "8", 1, 8, "no"), 8u);
  EXPECT_EQ(*parse_seed("--seed", "9007199254740992"), uint64_t{1} << 53);
  for (const char* bad : {"", "0", "9", "1.5", "-1", "8x"})
    EXPECT_FALSE(parse_whole("--qps", bad, 1, 8, "no").ok()) << bad;
}

TEST(Units, WrittenExactly) {
  EXPECT_EQ(to_text(Rate{100'000'000'000}), "100Gbps");
  EXPECT_EQ(to_text(Rate{2'500'000'000}), "2500Mbps");
  EXPECT_EQ(to_text(Rate{1}), "1bps");
  EXPECT_EQ(to_text(Duration::micros(500)), "500us");
  EXPECT_EQ(to_text(Duration::seconds(60)), "60s");
  EXPECT_EQ(to_text(Duration{}), "0ns");
  EXPECT_EQ(bytes_text(64 << 20), "64MiB");
  EXPECT_EQ(bytes_text(1500), "1500B");
}

TEST(Units, ErrorsNameOptionValueAndRemedy) {
  const std::string text = parse_rate("--budget", "fast").error();
  EXPECT_NE(text.find("--budget fast"), std::string::npos) << text;
  EXPECT_NE(text.find("100Gbps"), std::string::npos) << text;
}

}  // namespace
}  // namespace matchrdma
