#include "proxy/line_plot.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <utility>

#include "proxy/test_xml.h"

namespace matchrdma {
namespace {

LinePlot::Point point(double x, double y) { return {x, y, y, y}; }

LinePlot plot(std::vector<LinePlot::Point> points) {
  return {"Throughput", {"distance, km", true}, {"Gb/s", false}, {{"dcqcn", 0, std::move(points)}}};
}

/// Value of the attribute in the first element that begins so.
std::string attribute(const std::string& svg, const std::string& element, const std::string& name) {
  const size_t at = svg.find(element);
  if (at == std::string::npos) return "";
  const size_t value = svg.find(' ' + name + "=\"", at) + name.size() + 3;
  return svg.substr(value, svg.find('"', value) - value);
}

/// The last y of the first line.
double last_y(const std::string& svg) {
  const std::string d = attribute(svg, "<path class=\"series\"", "d");
  return std::stod(d.substr(d.rfind(',') + 1));
}
double frame_bottom(const std::string& svg) {
  const size_t at = svg.rfind("<rect ", svg.find("class=\"frame\""));
  const std::string frame = svg.substr(at);
  return std::stod(attribute(frame, "<rect", "y")) + std::stod(attribute(frame, "<rect", "height"));
}

TEST(LinePlot, ShowsTitleAxesAndLegendOnce) {
  const std::string svg = line_plot_svg(plot({point(1, 90), point(1000, 5)}));
  EXPECT_EQ(broken_xml(svg), "");
  for (const char* text : {">Throughput</text>", ">distance, km</text>", ">Gb/s</text>", ">dcqcn</text>",
                           ">1000</text>", ">80</text>"})
    EXPECT_EQ(count(svg, text), 1u) << text;
  EXPECT_EQ(count(svg, "<path class=\"series\""), 1u);
  EXPECT_EQ(svg, line_plot_svg(plot({point(1, 90), point(1000, 5)})));
}

TEST(LinePlot, TextsAreEscaped) {
  LinePlot p = plot({point(1, 1)});
  p.title = "a < b & \"c\"";
  p.series[0].name = "<x>\n\x01";
  p.x.title = "'k' & m";
  p.y.title = "</text>";
  const std::string svg = line_plot_svg(p);
  EXPECT_EQ(broken_xml(svg), "");
  EXPECT_EQ(count(svg, ">a &lt; b &amp; &quot;c&quot;</text>"), 1u);
  EXPECT_EQ(count(svg, ">&lt;x&gt;?\?</text>"), 1u);
  EXPECT_EQ(count(svg, ">&lt;/text&gt;</text>"), 1u);
}

TEST(LinePlot, NeighboursDifferInColourMarkerAndDashes) {
  LinePlot p = plot({});
  p.series.clear();
  for (size_t i = 0; i < 8; ++i) p.series.push_back({"s", i, {point(1, 1)}});
  const std::string svg = line_plot_svg(p);
  std::set<std::string> colours, dashes, markers;
  for (size_t at = 0; (at = svg.find("<path class=\"series\"", at)) != std::string::npos; ++at) {
    const std::string rest = svg.substr(at, svg.find("/>", at) - at);
    colours.insert(attribute(rest, "<path", "stroke"));
    dashes.insert(rest.find("dasharray") == std::string::npos ? ""
                                                              : attribute(rest, "<path", "stroke-dasharray"));
  }
  for (size_t at = 0; (at = svg.find("</title>\n<path d=\"M", at)) != std::string::npos; ++at) {
    const size_t shape = svg.find('m', svg.find("d=\"M", at));
    markers.insert(svg.substr(shape, svg.find('"', shape) - shape));
  }
  EXPECT_EQ(colours.size(), 8u);
  EXPECT_EQ(dashes.size(), 8u);
  EXPECT_EQ(markers.size(), 8u);
}

TEST(LinePlot, BarsStandOnlyWhereThereIsAnInterval) {
  const std::string svg = line_plot_svg(plot({point(1, 90), {10, 80, 75, 85}, point(100, 70)}));
  EXPECT_EQ(count(svg, "<path class=\"bar\""), 1u);
  EXPECT_EQ(count(svg, "10, 80 (75 to 85)"), 1u);
  EXPECT_EQ(svg.find("arrow"), std::string::npos);
}

TEST(LinePlot, ABarThatLeavesTheFrameIsSaidToDoSo) {
  const std::string svg = line_plot_svg(plot({point(1, 10), {10, 5, -400, 410}}));
  EXPECT_EQ(broken_xml(svg), "");
  EXPECT_EQ(count(svg, ">Bars with an arrow go on outside of the frame.</text>"), 1u);
  EXPECT_EQ(count(svg, ">410</text>"), 0u);
  EXPECT_EQ(svg.find(">400</text>"), std::string::npos);
  EXPECT_EQ(svg.find("=\"-"), std::string::npos);
}

TEST(LinePlot, ZeroOnALogarithmicAxisStandsAtItsEdgeWithAHint) {
  LinePlot p = plot({point(1, 90), point(1000, 0)});
  p.y.logarithmic = true;
  const std::string svg = line_plot_svg(p);
  EXPECT_EQ(broken_xml(svg), "");
  EXPECT_DOUBLE_EQ(last_y(svg), frame_bottom(svg));
  EXPECT_EQ(count(svg, "Hollow, at the lower edge"), 1u);
  EXPECT_EQ(count(svg, "class=\"hollow\""), 1u);
  p.series[0].points = {point(1, 100), point(10, 0), point(1000, 1)};
  EXPECT_LT(last_y(line_plot_svg(p)), frame_bottom(line_plot_svg(p)) - 20) << "1 looks like 0";
  p.series[0].points[1] = point(10, 1);
  EXPECT_EQ(line_plot_svg(p).find("Hollow"), std::string::npos);
  EXPECT_EQ(line_plot_svg(plot({point(0, 1), point(10, 2)})).find("at the lower edge"), std::string::npos);
  EXPECT_NE(line_plot_svg(plot({point(0, 1), point(10, 2)})).find("at the left edge"), std::string::npos);
}

TEST(LinePlot, EqualPointsOfTwoSeriesAreBothSeen) {
  LinePlot p = plot({point(10, 5)});
  const std::string alone = attribute(line_plot_svg(p), "<path class=\"series\"", "d");
  p.series.push_back(p.series[0]);
  const std::string svg = line_plot_svg(p);
  const double first = std::stod(attribute(svg, "<path class=\"series\"", "d").substr(1));
  const double second = std::stod(
      attribute(svg.substr(svg.find("<path class=\"series\"") + 1), "<path class=\"series\"", "d").substr(1));
  EXPECT_NEAR(second - first, 4, 0.11);
  EXPECT_NEAR((first + second) / 2, std::stod(alone.substr(1)), 0.11);
}

TEST(LinePlot, ALongTitleHasTwoLines) {
  LinePlot p = plot({point(1, 1)});
  p.title = std::string(30, 'a') + ' ' + std::string(30, 'b');
  const std::string svg = line_plot_svg(p);
  EXPECT_EQ(count(svg, ">" + std::string(30, 'a') + "</text>"), 1u);
  EXPECT_EQ(count(svg, ">" + std::string(30, 'b') + "</text>"), 1u);
}

TEST(LinePlot, WhatIsNoNumberIsLeftOutAndSaid) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const std::string svg = line_plot_svg(plot({point(1, nan), {2, 3, -inf, 4}, point(4, 5)}));
  EXPECT_EQ(count(svg, ">Left out, being no numbers: 2.</text>"), 1u);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(LinePlot, NothingIsAnEmptyFrame) {
  for (const bool log : {true, false}) {
    const LinePlot p{"", {"", log}, {"", log}, {}};
    EXPECT_EQ(broken_xml(line_plot_svg(p)), "");
    EXPECT_EQ(count(line_plot_svg(p), ">no data</text>"), 1u);
    LinePlot pointless = p;
    pointless.series.push_back({"s", 0, {}});
    EXPECT_EQ(broken_xml(line_plot_svg(pointless)), "");
  }
}

TEST(LinePlot, CurvesStandExactlyWhereTheyBelong) {
  LinePlot p = plot({point(1, 90), point(1000, 5)});
  p.series.push_back({"other", 1, p.series[0].points});
  const auto paths = [&] {
    const std::string svg = line_plot_svg(p);
    const size_t second = svg.find("<path class=\"series\"", svg.find("<path class=\"series\"") + 1);
    return std::pair(attribute(svg, "<path class=\"series\"", "d"),
                     attribute(svg.substr(second), "<path class=\"series\"", "d"));
  };
  const auto apart = paths();
  EXPECT_NE(apart.first, apart.second);
  p.beside = false;
  const auto exact = paths();
  EXPECT_EQ(exact.first, exact.second);
}

}  // namespace
}  // namespace matchrdma
