#include "proxy/line_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "proxy/plot_scale.h"
#include "proxy/svg.h"

namespace matchrdma {
namespace {

constexpr double kWidth = 600, kLeft = 78, kRight = 20, kInner = kWidth - kLeft - kRight, kHeight = 270;
// Points of one x stand side by side, so that none hides another with the same value; those at the ends of the
// x axis keep off the frame all the same.
constexpr double kBeside = 4, kInset = 20;
constexpr double kTitleLine = 19, kLegendLine = 20, kTicks = 22, kAxisTitle = 20, kHintLine = 16, kMargin = 8;
constexpr double kCap = 4;
constexpr size_t kTitleLetters = 54;
constexpr double kLetter = 6.7;  // about, of the legend
constexpr const char *kInk = "class=\"ink\" fill=\"#222222\"", *kFaint = "class=\"faint\" fill=\"#666666\"";

// Told apart by those who do not see all colours (Okabe and Ito), and light enough for a dark page.
constexpr std::array<const char*, 8> kColours{"#d55e00", "#cc79a7", "#b8860b", "#1a7fc4",
                                              "#009e73", "#56a0d8", "#808080", "#a0522d"};
constexpr std::array<const char*, 8> kDashes{"7,4", "2,3", "9,3,2,3", "", "12,3", "4,2", "1,4", "14,3,2,3,2,3"};
// Around the point, drawn from it.
constexpr std::array<const char*, 8> kMarkers{"m-4.5,-4.5h9v9h-9z",                             // square
                                              "m0,-5.5l5.2,9h-10.4z",                           // triangle
                                              "m0,-6l5.5,6l-5.5,6l-5.5,-6z",                    // diamond
                                              "m-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0z",  // circle
                                              "m0,5.5l5.2,-9h-10.4z",      // triangle on its tip
                                              "m-4.5,-4.5l9,9m0,-9l-9,9",  // cross
                                              "m-5.5,0h11m-5.5,-5.5v11",   // plus
                                              "m-5.5,-3.5h11v7h-11z"};     // brick

struct Look {
  const char *colour, *dashes, *marker;
};
// After one round of colours markers go on by one, so that pairs of colour and marker last for 64.
Look look(size_t n) {
  return {kColours[n % kColours.size()], kDashes[n % kDashes.size()],
          kMarkers[(n + n / kColours.size()) % kMarkers.size()]};
}

bool is_number(const LinePlot::Point& p) {
  return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.low) && std::isfinite(p.high);
}

/// What an axis has to show.
struct Extent {
  std::optional<double> least, most;
  void add(double v) {
    least = std::min(least.value_or(v), v);
    most = std::max(most.value_or(v), v);
  }
};

// What a logarithmic axis cannot show stands at its low end, so the least of the others keeps off it.
double low_end(double least, bool others_below) { return others_below ? least / 3 : least; }

PlotScale x_scale(const LinePlot& plot) {
  Extent e;
  bool below = false;
  for (const auto& s : plot.series)
    for (const auto& p : s.points) {
      if (!is_number(p)) continue;
      if (!plot.x.logarithmic || p.x > 0)
        e.add(p.x);
      else
        below = true;
    }
  constexpr int kWanted = 8;
  return plot.x.logarithmic
             ? PlotScale::logarithmic(low_end(e.least.value_or(1), below), e.most.value_or(1), kWanted)
             : PlotScale::linear(e.least.value_or(0), e.most.value_or(1), kWanted);
}

/// Of bars as much as does not squeeze the lines: half of the highest value above it, on a logarithmic axis a
/// factor of ten.
PlotScale y_scale(const LinePlot& plot) {
  const bool log = plot.y.logarithmic;
  Extent values, bars;
  bool below = false;
  for (const auto& s : plot.series)
    for (const auto& p : s.points) {
      if (!is_number(p)) continue;
      if (log && p.y <= 0) {
        below = true;
        continue;
      }
      values.add(p.y);
      bars.add(p.high);
      if (!log || p.low > 0) bars.add(p.low);
    }
  constexpr int kWanted = 6;
  const double least = values.least.value_or(1), most = values.most.value_or(1);
  if (log) {
    const double lowest = std::max(least / 10, std::min(least, bars.least.value_or(1)));
    const double highest = std::min(most * 10, std::max(most, bars.most.value_or(1)));
    return PlotScale::logarithmic(low_end(lowest, below), highest, kWanted);
  }
  const double highest = std::min(std::max(most, bars.most.value_or(1)), most + std::abs(most) / 2);
  return PlotScale::linear(std::min(least, 0.0), std::max(highest, 0.0), kWanted);
}

std::vector<std::string> wrapped(const std::string& text, size_t letters) {
  std::vector<std::string> lines;
  size_t at = 0;
  while (text.size() - at > letters) {
    const size_t space = text.rfind(' ', at + letters);
    const bool found = space != std::string::npos && space > at;
    const size_t end = found ? space : at + letters;
    lines.push_back(text.substr(at, end - at));
    at = found ? end + 1 : end;
  }
  lines.push_back(text.substr(at));
  return lines;
}

/// Duty: draws one plot from top to bottom. Does not know what it is about.
class Painter {
 public:
  explicit Painter(const LinePlot& plot) : plot_(plot), x_(x_scale(plot)), y_(y_scale(plot)) {}

  std::string draw() {
    title();
    legend();
    axes();
    for (const auto& s : plot_.series) line(s);
    for (const auto& s : plot_.series) points(s);
    below();
    Drawing all;
    all.open(kWidth, top_ + kMargin, "12", plot_.title);
    return all.out + d_.out + "</svg>\n";
  }

 private:
  double x(double v) const { return kLeft + kInset + (kInner - 2 * kInset) * x_.place(v); }
  double x(const LinePlot::Series& s, double v) const {
    if (!plot_.beside) return x(v);
    const auto n = static_cast<double>(plot_.series.size()), i = static_cast<double>(&s - plot_.series.data());
    const double beside = std::min(kBeside, kInset * 1.6 / n);
    return x(v) + (i - (n - 1) / 2) * beside;
  }
  double y(double v) const { return top_ + kHeight * (1 - y_.place(v)); }

  void title() {
    for (const std::string& l : wrapped(plot_.title, kTitleLetters)) {
      d_.text(kLeft, top_ + 15, "start", l, std::string("font-size=\"14\" font-weight=\"bold\" ") + kInk);
      top_ += kTitleLine;
    }
  }

  /// Above the frame, so that it covers nothing.
  void legend() {
    constexpr double kSample = 34, kGap = 18;
    double at = kLeft;
    top_ += 4;
    for (const auto& s : plot_.series) {
      const double width = kSample + 6 + kLetter * static_cast<double>(s.name.size());
      if (at > kLeft && at + width > kWidth - kRight) {
        at = kLeft;
        top_ += kLegendLine;
      }
      const double middle = top_ + 10;
      d_.line(at, middle, at + kSample, middle, stroke(s));
      marker(s, at + kSample / 2, middle);
      d_.text(at + kSample + 6, middle + 4, "start", s.name, kInk);
      at += width + kGap;
    }
    top_ += plot_.series.empty() ? 0 : kLegendLine + 4;
  }

  void axes() {
    for (const PlotTick& t : y_.ticks()) {
      d_.line(kLeft, y(t.value), kLeft + kInner, y(t.value), grid(t));
      if (!t.text.empty()) d_.text(kLeft - 8, y(t.value) + 4, "end", t.text, kFaint);
    }
    for (const PlotTick& t : x_.ticks()) {
      d_.line(x(t.value), top_, x(t.value), top_ + kHeight, grid(t));
      if (!t.text.empty()) d_.text(x(t.value), top_ + kHeight + 17, "middle", t.text, kFaint);
    }
    d_.box(kLeft, top_, kInner, kHeight, "class=\"frame\" fill=\"none\" stroke=\"#999999\"");
    const std::string turned = "transform=\"rotate(-90 16.0 " + coordinate(top_ + kHeight / 2) + ")\" ";
    d_.text(16, top_ + kHeight / 2, "middle", plot_.y.title, turned + kInk);
    d_.text(kLeft + kInner / 2, top_ + kHeight + kTicks + 14, "middle", plot_.x.title, kInk);
    if (plot_.series.empty()) d_.text(kLeft + kInner / 2, top_ + kHeight / 2, "middle", "no data", kFaint);
  }
  static std::string grid(const PlotTick& t) {
    return std::string("class=\"grid\" stroke=\"#e4e4e4\"") + (t.text.empty() ? " stroke-opacity=\"0.5\"" : "");
  }

  std::string stroke(const LinePlot::Series& s) const {
    const Look l = look(s.look);
    std::string out = std::string("fill=\"none\" stroke-width=\"2\" stroke=\"") + l.colour + "\"";
    if (*l.dashes != '\0') out += std::string(" stroke-dasharray=\"") + l.dashes + "\"";
    return out;
  }
  void marker(const LinePlot::Series& s, double px, double py, bool hollow = false) {
    const Look l = look(s.look);
    d_.out += "<path d=\"M" + coordinate(px) + ',' + coordinate(py) + l.marker + "\" stroke=\"" + l.colour +
              "\" stroke-width=\"1.6\" " +
              (hollow ? "class=\"hollow\" fill=\"white\"" : std::string("fill=\"") + l.colour + "\"") + "/>\n";
  }

  void line(const LinePlot::Series& s) {
    std::string d;
    for (const auto& p : s.points) {
      if (!is_number(p)) continue;
      d += (d.empty() ? 'M' : 'L') + coordinate(x(s, p.x)) + ',' + coordinate(y(p.y));
    }
    if (!d.empty()) d_.out += "<path class=\"series\" " + stroke(s) + " d=\"" + d + "\"/>\n";
  }

  void points(const LinePlot::Series& s) {
    for (const auto& p : s.points) {
      if (!is_number(p)) {
        ++left_out_;
        continue;
      }
      const bool lost_x = x_.is_logarithmic() && p.x <= 0, lost_y = y_.is_logarithmic() && p.y <= 0;
      at_edge_x_ = at_edge_x_ || lost_x;
      at_edge_y_ = at_edge_y_ || lost_y;
      if (p.low != p.high) bar(s, p);
      d_.out +=
          "<g><title>" +
          xml_text(s.name + ": " + axis_number(p.x) + ", " + axis_number(p.y) +
                   (p.low != p.high ? " (" + axis_number(p.low) + " to " + axis_number(p.high) + ")" : "")) +
          "</title>\n";
      marker(s, x(s, p.x), y(p.y), lost_x || lost_y);
      d_.out += "</g>\n";
    }
  }

  void bar(const LinePlot::Series& s, const LinePlot::Point& p) {
    const double at = x(s, p.x), high = y(p.high), low = y(p.low);
    std::string d = "M" + coordinate(at) + ',' + coordinate(high) + 'V' + coordinate(low);
    d += end_of_bar(at, high, p.high > y_.high(), kCap);
    d += end_of_bar(at, low, p.low < y_.low(), -kCap);
    d_.out += std::string("<path class=\"bar\" fill=\"none\" stroke-width=\"1.4\" stroke=\"") +
              look(s.look).colour + "\" d=\"" + d + "\"/>\n";
  }
  /// A cap, or an arrow where the bar goes on outside. inwards: from the end into the frame.
  std::string end_of_bar(double at, double end, bool cut, double inwards) {
    cut_ = cut_ || cut;
    const std::string left = coordinate(at - kCap), right = coordinate(at + kCap);
    if (!cut) return "M" + left + ',' + coordinate(end) + 'H' + right;
    return "M" + left + ',' + coordinate(end + inwards * 1.5) + 'L' + coordinate(at) + ',' + coordinate(end) +
           'L' + right + ',' + coordinate(end + inwards * 1.5);
  }

  void below() {
    top_ += kHeight + kTicks + kAxisTitle;
    if (at_edge_y_) hint("Hollow, at the lower edge: 0 or less, which a logarithmic axis does not have.");
    if (at_edge_x_) hint("Hollow, at the left edge: 0 or less, which a logarithmic axis does not have.");
    if (cut_) hint("Bars with an arrow go on outside of the frame.");
    if (left_out_ > 0) hint("Left out, being no numbers: " + std::to_string(left_out_) + ".");
  }
  void hint(const std::string& text) {
    d_.text(kLeft, top_ + 12, "start", text, std::string("font-size=\"11\" ") + kFaint);
    top_ += kHintLine;
  }

  const LinePlot& plot_;
  PlotScale x_, y_;
  double top_ = kMargin;  ///< so far; of the frame while it is drawn
  Drawing d_;
  bool at_edge_x_ = false, at_edge_y_ = false, cut_ = false;
  size_t left_out_ = 0;
};

}  // namespace

std::string line_plot_svg(const LinePlot& plot) { return Painter(plot).draw(); }

}  // namespace matchrdma
