#include "proxy/table.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "proxy/progress.h"

namespace matchrdma {
namespace {

std::string printed(const Table& t) {
  std::ostringstream out;
  t.print(out);
  return out.str();
}

TEST(Thousands, SeparatesGroupsOfThree) {
  EXPECT_EQ(thousands(0), "0");
  EXPECT_EQ(thousands(999), "999");
  EXPECT_EQ(thousands(1000), "1,000");
  EXPECT_EQ(thousands(123456), "123,456");
  EXPECT_EQ(thousands(1234567), "1,234,567");
  EXPECT_EQ(thousands(std::numeric_limits<uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(DurationText, PicksTheUnit) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(12'500), "12.500 us");
  EXPECT_EQ(duration_text(3'200'000), "3.200 ms");
  EXPECT_EQ(duration_text(61'000'000'000), "61.000 s");
  EXPECT_EQ(duration_text(-2'000), "-2.000 us");
}

TEST(Table, AlignsAndRules) {
  Table t({{"opcode"}, {"packets", Table::Align::kRight}});
  t.add({"RC_ACK", "5"});
  t.add({"RC_WRITE_MIDDLE", "1,310"});
  EXPECT_EQ(printed(t),
            "  opcode           packets\n"
            "  ---------------  -------\n"
            "  RC_ACK                 5\n"
            "  RC_WRITE_MIDDLE    1,310\n");
}

TEST(Table, WithoutHeadingsHasNoRule) {
  Table t({{""}, {"", Table::Align::kRight}});
  t.add({"packets", "10"});
  EXPECT_EQ(printed(t), "  packets  10\n");
}

TEST(Table, CountsCodePointsAndKeepsCellsOnTheirLine) {
  Table t({{"name"}, {"n", Table::Align::kRight}});
  t.add({"Zürich µs", "1"});
  t.add({"a\nb\x1b[31m", "22"});
  EXPECT_EQ(printed(t),
            "  name        n\n"
            "  ---------  --\n"
            "  Zürich µs   1\n"
            "  a?b?[31m   22\n");
}

TEST(ProgressLine, ShowsPartOrCount) {
  EXPECT_EQ(progress_line("reading", 1024, 2048),
            "reading  [###############...............]  50 %  1,024 of 2,048");
  EXPECT_EQ(progress_line("reading", 4096, 2048),
            "reading  [##############################]  100 %  4,096 of 2,048");
  EXPECT_EQ(progress_line("reading", 1024, 0), "reading  1,024");
}

}  // namespace
}  // namespace matchrdma
