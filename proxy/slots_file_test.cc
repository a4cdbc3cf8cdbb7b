#include "proxy/slots_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "proxy/slots_summary.h"
#include "proxy/test_slots.h"

namespace matchrdma {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string complaint(const std::string& text) {
  const auto r = parse_slots(text, "x.json");
  return r ? "none" : r.error();
}

TEST(SlotsFile, RowsOfTheDaemonAreRead) {
  Json row = slot_row(7, 3);
  row["window"] = "recurrent";
  row["level"] = "moderate";
  row["period_slots"] = 12.5;
  const auto r = parse_slots(slots_text({row}), "x.json");
  ASSERT_TRUE(r.ok()) << r.error();
  ASSERT_EQ(r->size(), 1u);
  const SlotSeries& s = (*r)[0];
  EXPECT_EQ(s.span, "B");
  EXPECT_EQ(s.receiver, "10.2.0.1");
  EXPECT_EQ(s.slot, Duration::micros(200));
  ASSERT_EQ(s.points.size(), 1u);
  const SlotPoint& p = s.points[0];
  EXPECT_EQ(p.slot, 7);
  EXPECT_EQ(p.governs, 10);
  EXPECT_DOUBLE_EQ(p.arrived, 40);
  EXPECT_DOUBLE_EQ(p.acked, 30);
  EXPECT_DOUBLE_EQ(p.capacity, 50);
  EXPECT_DOUBLE_EQ(p.forecast, 60);
  EXPECT_DOUBLE_EQ(p.budget, 55);
  EXPECT_DOUBLE_EQ(p.backlog, 1000);
  EXPECT_DOUBLE_EQ(p.queue, 2000);
  EXPECT_DOUBLE_EQ(p.projected, 3000);
  EXPECT_DOUBLE_EQ(p.period, 12.5);
  EXPECT_TRUE(p.saturated);
  EXPECT_EQ(p.window, WindowKind::kRecurrent);
  EXPECT_EQ(p.level, CongestionLevel::kModerate);
}

TEST(SlotsFile, RowsInAnyOrderMakeSeriesInOrder) {
  Json later = slot_row(5, 1);
  later["arrived_bps"] = 1'000'000'000;
  const auto r = parse_slots(slots_text({slot_row(9, 1), slot_row(2, 1, "fd00::2"), slot_row(5, 1),
                                         slot_row(5, 1, "10.2.0.1", "A"), later}),
                             "x.json");
  ASSERT_TRUE(r.ok()) << r.error();
  ASSERT_EQ(r->size(), 3u);
  EXPECT_EQ((*r)[0].span, "A");
  const SlotSeries& s = (*r)[1];
  EXPECT_EQ(s.receiver, "10.2.0.1");
  ASSERT_EQ(s.points.size(), 2u);
  EXPECT_EQ(s.points[0].slot, 5);
  EXPECT_DOUBLE_EQ(s.points[0].arrived, 1);  // of two the later one
  EXPECT_EQ(s.points[1].slot, 9);
}

TEST(SlotsFile, WhatIsNoSlotsFileIsSaidSo) {
  EXPECT_NE(complaint("").find("x.json: is empty"), std::string::npos);
  EXPECT_NE(complaint(" \n").find("is empty"), std::string::npos);
  for (const char* text : {"{", "{\"slots\":[{}", "nothing", "\xff\xfe", "{\"slots\":[]} {}"})
    EXPECT_NE(complaint(text).find(": is not JSON"), std::string::npos) << text;
  for (const char* text : {"[]", "1", "null", "{}", "{\"slots\":1}", "{\"slots\":{\"a\":{}}}", "{\"slots\":{}}",
                           "{\"rows\":[{}]}", "[{\"slots\":[]}]"})
    EXPECT_NE(complaint(text).find("holds no list \"slots\""), std::string::npos) << text << complaint(text);
  for (const char* text : {"{\"slots\":[1]}", "{\"slots\":[[]]}", "{\"slots\":[null]}", "{\"slots\":[[{}]]}"})
    EXPECT_NE(complaint(text).find("a member of \"slots\" is not an object"), std::string::npos) << text;
  EXPECT_NE(complaint("{\"slots\":[]}").find("holds no slot"), std::string::npos);
  EXPECT_NE(complaint(std::string(1'000'000, '[')).find("is not JSON"), std::string::npos);
  EXPECT_NE(
      complaint("{\"slots\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}").find("x.json: "),
      std::string::npos);
}

TEST(SlotsFile, AWrongMemberIsNamedWithRowValueAndRemedy) {
  const auto with = [](const char* key, Json value) {
    Json wrong = slot_row(2, 1);
    wrong[key] = std::move(value);
    return complaint(slots_text({slot_row(1, 1), wrong}));
  };
  EXPECT_NE(with("arrived_bps", "fast").find("x.json: slots[1].arrived_bps: \"fast\" is not a number from 0"),
            std::string::npos);
  EXPECT_NE(with("arrived_bps", -1).find("arrived_bps: -1 is not"), std::string::npos);
  EXPECT_NE(with("capacity_bps", 1e300).find("capacity_bps: 1e+300 is not"), std::string::npos);
  EXPECT_NE(with("slot", 1.5).find("slot: 1.5 is not a whole number"), std::string::npos);
  EXPECT_NE(with("slot", -4).find("slot: -4 is not"), std::string::npos);
  EXPECT_NE(with("governs", 1).find("governs: 1 is not"), std::string::npos);
  EXPECT_NE(with("governs", 1'000'000).find("governs: 1000000 is not a number from 2 to 1026"),
            std::string::npos);
  EXPECT_NE(with("slot_ns", 0).find("slot_ns: 0 is not"), std::string::npos);
  EXPECT_NE(with("slot_ns", 100'000).find("slot_ns: differs"), std::string::npos);
  EXPECT_NE(with("saturated", 1).find("saturated: 1 is not true or false"), std::string::npos);
  EXPECT_NE(with("level", "hot").find("level: \"hot\" is not one of low, moderate, high"), std::string::npos);
  EXPECT_NE(with("window", Json::array()).find("window: a list or object is not a text"), std::string::npos);
  EXPECT_NE(with("receiver", "<b>").find("receiver: \"<b>\" is not an IP address"), std::string::npos);
  EXPECT_NE(with("receiver", std::string(5000, 'x')).find("xxx... is not"), std::string::npos);
  EXPECT_NE(with("span", 3).find("span: 3 is not a text; give a file of"), std::string::npos);
  Json missing = slot_row(2, 1);
  missing.erase("budget_bps");
  EXPECT_NE(complaint(slots_text({missing})).find("slots[0].budget_bps: is missing"), std::string::npos);
}

TEST(SlotsFile, FilesThatCannotBeReadAreNamed) {
  EXPECT_NE(read_slots("no-such-file.json").error().find("no-such-file.json: cannot be opened"),
            std::string::npos);
  EXPECT_NE(read_slots(testing::TempDir()).error().find("is a folder"), std::string::npos);
}

TEST(SlotsFile, WhatAReplayWritesIsRead) {
  const std::string path =
      (fs::path(testing::TempDir()) / ("slots_" + std::to_string(getpid()) + ".json")).string();
  ReplaySlot s;
  s.site = 1;
  s.group.dst = *ip_from_text("10.2.0.7");
  s.slot.why.slot = 4;
  s.slot.why.horizon = 2;
  s.slot.why.arrived = 12.5;
  ReplaySlot other = s;
  other.site = 0;
  ASSERT_TRUE(write_slots({}, {s, other}, path).ok());
  const auto r = read_slots(path);
  ASSERT_TRUE(r.ok()) << r.error();
  ASSERT_EQ(r->size(), 2u);
  EXPECT_EQ((*r)[0].span, "A");
  EXPECT_EQ((*r)[1].span, "B");
  EXPECT_EQ((*r)[1].receiver, "10.2.0.7");
  EXPECT_EQ((*r)[1].points.at(0).governs, 6);
  EXPECT_DOUBLE_EQ((*r)[1].points.at(0).arrived, 12.5);
  ASSERT_TRUE(write_slots({}, {}, path).ok());
  EXPECT_NE(read_slots(path).error().find("holds no slot"), std::string::npos);
  fs::remove(path);
  EXPECT_FALSE(write_slots({}, {}, "/no-such-folder/x").ok());
}

TEST(SlotsSummary, FiguresAreThoseOfTheRows) {
  SlotSeries s{"B", "10.2.0.1", 0, 0, Duration::micros(200), {}};
  for (int64_t k = 0; k < 4; ++k) {
    SlotPoint p;
    p.slot = k;
    p.governs = k + 2;
    p.arrived = 10;
    p.acked = 8;
    p.budget = 20 + 2 * static_cast<double>(k);
    p.capacity = 40 + 10 * static_cast<double>(k);
    p.forecast = 50;
    p.backlog = 1000 * static_cast<double>(k);
    p.saturated = k != 3;
    p.period = k == 1 ? 10 : 0;
    s.points.push_back(p);
  }
  const SlotSummary sum = summary_of(s);
  EXPECT_EQ(sum.slots, 4u);
  EXPECT_EQ(sum.saturated, 3u);
  EXPECT_DOUBLE_EQ(sum.arrived, 10);
  EXPECT_DOUBLE_EQ(sum.acked, 8);
  EXPECT_DOUBLE_EQ(sum.budget, 23);
  // Slots 0 and 1 had no forecast, slot 3 was not saturated: |50 - 60| / 60.
  ASSERT_TRUE(sum.error.has_value());
  EXPECT_DOUBLE_EQ(*sum.error, 10.0 / 60);
  EXPECT_DOUBLE_EQ(sum.peak_backlog, 3000);
  EXPECT_DOUBLE_EQ(sum.mean_backlog, 1500);
  EXPECT_EQ(sum.period, Duration::millis(2));
  for (SlotPoint& p : s.points) p.saturated = false;
  EXPECT_FALSE(summary_of(s).error.has_value());
  EXPECT_TRUE(summaries_json({s})["receivers"][0]["forecast_error"].is_null());
  EXPECT_EQ(summaries_json({s})["receivers"][0]["mean_arrived_bps"], 10'000'000'000);
}

}  // namespace
}  // namespace matchrdma
