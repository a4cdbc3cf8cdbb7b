#include "proxy/slots_picture.h"

#include <gtest/gtest.h>

#include "proxy/svg.h"
#include "proxy/test_slots.h"
#include "proxy/test_xml.h"

namespace matchrdma {
namespace {

using Json = nlohmann::ordered_json;

std::vector<SlotSeries> series(const Json& rows) {
  auto r = parse_slots(slots_text(rows), "x.json");
  if (!r) ADD_FAILURE() << r.error();
  return r ? *r : std::vector<SlotSeries>{};
}

/// The first path of this class: its `d`.
std::string path_of(const std::string& svg, const std::string& key) {
  const size_t at = svg.find("<path class=\"" + key + "\"");
  if (at == std::string::npos) return "";
  const size_t d = svg.find(" d=\"", at) + 4;
  return svg.substr(d, svg.find('"', d) - d);
}

double first_x(const std::string& svg, const std::string& key) {
  return std::stod(path_of(svg, key).substr(1));
}

const char* const kSeries[] = {"arrived",  "acked",     "budget", "capacity",
                               "forecast", "projected", "queue",  "backlog"};

TEST(SlotsPicture, EverySeriesAndStripIsThere) {
  Json rows;
  for (int k = 0; k < 50; ++k) rows.push_back(slot_row(k, 5));
  const std::string svg = slots_svg(series(rows));
  EXPECT_EQ(broken_xml(svg), "");
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  for (const char* key : kSeries) {
    EXPECT_FALSE(path_of(svg, key).empty()) << key;
    EXPECT_EQ(count(path_of(svg, key), "M"), 1u) << key;
  }
  for (const char* key : {"level", "window"})
    EXPECT_EQ(count(svg, std::string("<g class=\"") + key + "\">"), 1u);
  for (const char* text :
       {"Receiver 10.2.0.1, span B", "Gb/s", "kB", "ms since slot 0 began", "moderate", "recurrent"})
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

// A forecast of slot k stands where slot k + h stands, what was seen in slot k at k.
TEST(SlotsPicture, WhatGovernsALaterSlotStandsThere) {
  const std::string svg = slots_svg(series({slot_row(100, 30), slot_row(130, 30)}));
  for (const char* seen : {"arrived", "acked", "capacity", "queue", "backlog"})
    EXPECT_DOUBLE_EQ(first_x(svg, seen), first_x(svg, "arrived")) << seen;
  const std::string arrived = path_of(svg, "arrived");
  const double second = std::stod(arrived.substr(arrived.find('M', 1) + 1));
  EXPECT_GT(second, first_x(svg, "arrived"));
  for (const char* ahead : {"budget", "forecast", "projected"})
    EXPECT_DOUBLE_EQ(first_x(svg, ahead), second) << ahead;
}

TEST(SlotsPicture, AnIdleReceiverHasNoLine) {
  const std::string svg = slots_svg(series({slot_row(1, 1), slot_row(2, 1), slot_row(9, 1)}));
  EXPECT_EQ(count(path_of(svg, "arrived"), "M"), 2u);
}

TEST(SlotsPicture, EachReceiverHasItsPictureTheBusiestFirst) {
  Json rows;
  for (int i = 1; i <= 12; ++i)
    for (int k = 0; k < i; ++k) rows.push_back(slot_row(k, 1, "10.2.0." + std::to_string(i)));
  const std::string svg = slots_svg(series(rows));
  EXPECT_EQ(broken_xml(svg), "");
  EXPECT_EQ(count(svg, "<g class=\"receiver\">"), kMostPictures);
  EXPECT_NE(svg.find("The 8 busiest of 12 receivers"), std::string::npos);
  EXPECT_LT(svg.find("Receiver 10.2.0.12,"), svg.find("Receiver 10.2.0.11,"));
  EXPECT_EQ(svg.find("Receiver 10.2.0.4,"), std::string::npos);
  const std::string html = slots_html(series(rows));
  EXPECT_EQ(broken_xml(html), "");
  EXPECT_EQ(count(html, "<tr><td>"), 12u);  // the table has all
  EXPECT_EQ(slots_svg(series(Json::array({slot_row(1, 1)}))).find("busiest"), std::string::npos);
}

TEST(SlotsPicture, NothingIsAnEmptyPicture) {
  EXPECT_EQ(broken_xml(slots_svg({})), "");
  EXPECT_EQ(broken_xml(slots_html({})), "");
}

TEST(SlotsPicture, NamesAndNumbersOfStrangersDoNoHarm) {
  Json first = slot_row(0, 0), last = slot_row(int64_t{1} << 52, 1024);
  for (Json* row : {&first, &last}) (*row)["span"] = "</text><script>\"'&\x01\u00e9";
  for (const char* key : {"arrived_bps", "capacity_bps", "budget_bps", "backlog_bytes"})
    last[key] = 9007199254740992;
  for (const auto& picture : {slots_svg(series({first, last})), slots_html(series({first, last}))}) {
    EXPECT_EQ(broken_xml(picture), "");
    EXPECT_EQ(picture.find("<script>"), std::string::npos);
    EXPECT_EQ(picture.find("nan"), std::string::npos);
    EXPECT_EQ(picture.find("inf"), std::string::npos);
  }
  Json zero = slot_row(3, 0);
  for (const char* key : {"arrived_bps", "acked_bps", "capacity_bps", "forecast_bps", "budget_bps",
                          "backlog_bytes", "queue_bytes", "projected_queue_bytes"})
    zero[key] = 0;
  EXPECT_EQ(slots_svg(series(Json::array({zero}))).find("nan"), std::string::npos);
}

// However many slots there are, a path has a few points for each pixel, and its peak is among them.
TEST(SlotsPicture, ManySlotsShareAPixel) {
  SlotSeries s{"B", "10.2.0.1", 0, 0, Duration::micros(200), {}};
  for (int64_t k = 0; k < 300'000; ++k) {
    SlotPoint p;
    p.slot = p.governs = k;
    p.arrived = k == 123'456 ? 99 : static_cast<double>(k % 7);
    p.level = static_cast<CongestionLevel>(k % 3);
    s.points.push_back(p);
  }
  EXPECT_LT(slots_svg({s}).size(), 1'000'000u);
  PlotArea area{0, 0, 1000, 100, 0, 300'000, 100};
  std::vector<PlotStep> steps;
  for (const SlotPoint& p : s.points) steps.push_back({p.slot, p.arrived});
  EXPECT_NE(step_path(area, steps).find(",1.0"), std::string::npos);
}

TEST(Svg, StepsAreLevelAndJoined) {
  const PlotArea area{10, 0, 100, 50, 5, 10, 10};
  EXPECT_EQ(step_path(area, {{5, 0}, {6, 10}, {8, 5}}), "M10.0,50.0H20.0L20.0,0.0H30.0M40.0,25.0H50.0");
  EXPECT_EQ(step_path(area, {}), "");
}

TEST(Svg, AxesHaveRoundSteps) {
  EXPECT_DOUBLE_EQ(axis_step(100, 5), 20);
  EXPECT_DOUBLE_EQ(axis_step(108, 5), 25);
  EXPECT_DOUBLE_EQ(axis_step(0.9, 3), 0.5);
  EXPECT_EQ(axis_number(0.25), "0.25");
  EXPECT_EQ(axis_number(1500), "1500");
}

}  // namespace
}  // namespace matchrdma
