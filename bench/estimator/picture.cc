#include "bench/estimator/picture.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <ostream>

namespace matchrdma::estimator_bench {
namespace {

constexpr double kWidth = 1200, kLeft = 60, kRight = 70, kPlot = 230, kTop = 56, kGap = 70;
constexpr double kMostRate = 110;  // Gb/s
constexpr double kInner = kWidth - kLeft - kRight;

struct Line {
  const char* name;
  const char* colour;
  double width;
  double LoopSlot::*value;
};
constexpr Line kLines[] = {{"capacity", "#222222", 1.6, &LoopSlot::capacity},
                           {"forecast", "#1f77b4", 1.4, &LoopSlot::forecast},
                           {"budget", "#2ca02c", 1.0, &LoopSlot::budget}};
constexpr const char* kBacklogColour = "#d62728";

/// A round number not below v.
double round_up(double v) {
  const double power = std::pow(10, std::floor(std::log10(std::max(v, 1e-3))));
  for (const double step : {1.0, 2.0, 5.0, 10.0}) {
    if (step * power >= v) return step * power;
  }
  return 10 * power;
}

void text(std::ostream& o, double x, double y, const char* anchor, const std::string& t,
          const char* colour = "#333333") {
  o << "<text x=\"" << x << "\" y=\"" << y << "\" text-anchor=\"" << anchor << "\" fill=\"" << colour << "\">"
    << t << "</text>\n";
}

std::string number(double v) {
  std::string s = std::to_string(v);
  s.erase(s.find_last_not_of('0') + 1);
  if (s.back() == '.') s.pop_back();
  return s;
}

void curve(std::ostream& o, const Panel& p, double top, double most, double LoopSlot::*value,
           const char* colour, double width) {
  const double first = p.slots.front().ms, span = p.slots.back().ms - first;
  o << "<polyline fill=\"none\" stroke=\"" << colour << "\" stroke-width=\"" << width << "\" points=\"";
  for (const LoopSlot& s : p.slots) {
    o << kLeft + kInner * (s.ms - first) / span << ',' << top + kPlot * (1 - std::min(s.*value, most) / most)
      << ' ';
  }
  o << "\"/>\n";
}

void panel(std::ostream& o, const Panel& p, double top) {
  double most_backlog = 0;
  for (const LoopSlot& s : p.slots) most_backlog = std::max(most_backlog, s.backlog);
  most_backlog = round_up(most_backlog);
  const double first = p.slots.front().ms, span = p.slots.back().ms - first;
  text(o, kLeft, top - 10, "start", p.title);
  o << "<rect x=\"" << kLeft << "\" y=\"" << top << "\" width=\"" << kInner << "\" height=\"" << kPlot
    << "\" fill=\"none\" stroke=\"#999999\"/>\n";
  for (int rate = 0; rate <= 100; rate += 25) {
    const double y = top + kPlot * (1 - rate / kMostRate);
    o << "<line x1=\"" << kLeft << "\" x2=\"" << kLeft + kInner << "\" y1=\"" << y << "\" y2=\"" << y
      << "\" stroke=\"#eeeeee\"/>\n";
    text(o, kLeft - 8, y + 4, "end", std::to_string(rate));
  }
  for (int i = 0; i <= 2; ++i) {
    text(o, kLeft + kInner + 8, top + kPlot * (1 - i / 2.0) + 4, "start", number(most_backlog * i / 2) + " MB",
         kBacklogColour);
  }
  for (int i = 0; i <= 6; ++i) {
    text(o, kLeft + kInner * i / 6, top + kPlot + 18, "middle",
         std::to_string(std::lround(first + span * i / 6)) + " ms");
  }
  curve(o, p, top, most_backlog, &LoopSlot::backlog, kBacklogColour, 1.0);
  for (auto line = std::rbegin(kLines); line != std::rend(kLines); ++line) {
    curve(o, p, top, kMostRate, line->value, line->colour, line->width);
  }
}

}  // namespace

Result<void> write_picture(const std::vector<Panel>& panels, const std::string& path) {
  std::ofstream o(path, std::ios::trunc);
  if (!o)
    return Error{path + ": cannot be created: " + std::strerror(errno) + "; check that its folder exists"};
  const double height = kTop + static_cast<double>(panels.size()) * (kPlot + kGap);
  o << std::fixed << std::setprecision(1) << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << kWidth
    << "\" height=\"" << height
    << "\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" "
       "fill=\"white\"/>\n";
  double x = kLeft;
  for (const Line& line : kLines) {
    text(o, x, 20, "start", line.name, line.colour);
    x += 90;
  }
  text(o, x, 20, "start", "backlog (right)", kBacklogColour);
  text(o, kLeft + kInner, 20, "end", "Gb/s; forecast and capacity are of the slot that the budget governs",
       "#777777");
  for (size_t i = 0; i < panels.size(); ++i)
    panel(o, panels[i], kTop + static_cast<double>(i) * (kPlot + kGap));
  o << "</svg>\n";
  if (!o.flush())
    return Error{path + ": write failed: " + std::strerror(errno) + "; check the free space of the disk"};
  return {};
}

}  // namespace matchrdma::estimator_bench
