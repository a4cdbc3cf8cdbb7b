#include "proxy/plan_picture.h"

#include <algorithm>
#include <vector>

#include "config/units.h"
#include "host/planner/completion.h"
#include "proxy/line_plot.h"
#include "proxy/svg.h"

namespace matchrdma {
namespace {

/// What one scheme takes at each size, in seconds; the sizes are MiB.
struct Curve {
  std::string name;
  std::vector<LinePlot::Point> means;
};

std::vector<uint64_t> sizes(const planner::Link& link) {
  std::vector<uint64_t> all;
  constexpr uint64_t kFactor = 2;
  for (uint64_t size = link.packet_bytes; size < planner::kLargestMessage; size *= kFactor) all.push_back(size);
  all.push_back(planner::kLargestMessage);
  return all;
}

LinePlot::Point point(uint64_t size, double y) {
  constexpr double kMiB = 1 << 20;
  return {static_cast<double>(size) / kMiB, y, y, y};
}

std::vector<Curve> curves_of(const PlanQuestion& q) {
  const std::vector<uint64_t> all = sizes(q.link);
  std::vector<Curve> curves{{"loss-free", {}}};
  for (const uint64_t size : all)
    curves[0].means.push_back(point(size, planner::Completion(q.link, size, {}).loss_free()));
  for (const planner::Scheme& s : plan_schemes(q.code)) {
    curves.push_back({scheme_name(s), {}});
    for (const uint64_t size : all)
      curves.back().means.push_back(point(size, planner::Completion(q.link, size, s).mean()));
  }
  return curves;
}

LinePlot::Series series(const Curve& c, size_t look) { return {c.name, look, c.means}; }

LinePlot in_milliseconds(const std::vector<Curve>& curves, const std::string& link) {
  LinePlot plot{"Mean completion time; " + link, {"message, MiB", true}, {"mean, ms", true}, {}, false};
  for (size_t i = 0; i < curves.size(); ++i) {
    LinePlot::Series s = series(curves[i], i);
    for (LinePlot::Point& p : s.points) p.y = p.low = p.high = p.y * 1e3;
    plot.series.push_back(s);
  }
  return plot;
}

/// Go-back-N, the reference, would squeeze the others: its curve ends a little above them.
LinePlot above_loss_free(const std::vector<Curve>& curves) {
  LinePlot plot{
      "How much longer than the loss-free", {"message, MiB", true}, {"mean, % longer", false}, {}, false};
  for (size_t i = 1; i < curves.size(); ++i) {
    LinePlot::Series s = series(curves[i], i);
    for (size_t k = 0; k < s.points.size(); ++k) {
      LinePlot::Point& p = s.points[k];
      p.y = p.low = p.high = 100 * (p.y / curves[0].means[k].y - 1);
    }
    plot.series.push_back(s);
  }
  double most = 1;
  for (size_t i = 0; i + 1 < plot.series.size(); ++i)
    for (const LinePlot::Point& p : plot.series[i].points) most = std::max(most, p.y);
  constexpr double kAbove = 1.5;
  std::erase_if(plot.series.back().points, [&](const LinePlot::Point& p) { return p.y > kAbove * most; });
  return plot;
}

/// One picture below the other.
std::string stacked(const std::vector<std::string>& pictures, const std::string& name) {
  Drawing all;
  std::string inner;
  double width = 0, top = 0;
  const auto number_behind = [](const std::string& svg, const std::string& key) {
    return std::stod(svg.substr(svg.find(key) + key.size()));
  };
  for (const std::string& svg : pictures) {
    constexpr size_t kTag = 4;  // "<svg"
    inner += "<svg y=\"" + coordinate(top) + '"' + svg.substr(kTag);
    width = std::max(width, number_behind(svg, " width=\""));
    top += number_behind(svg, " height=\"");
  }
  all.open(width, top, "12", name);
  return all.out + inner + "</svg>\n";
}

}  // namespace

std::string plan_svg(const PlanQuestion& q) {
  const std::vector<Curve> curves = curves_of(q);
  const std::string link = to_text(q.link.rate) + ", RTT " + to_text(q.link.rtt) + ", loss " +
                           axis_number(q.link.loss) + (q.link.cold ? ", cold" : "");
  return stacked({line_plot_svg(in_milliseconds(curves, link)), line_plot_svg(above_loss_free(curves))},
                 "Mean completion time over the size of the message; " + link);
}

}  // namespace matchrdma
