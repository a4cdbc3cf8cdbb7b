#include "proxy/slots_picture.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "config/units.h"
#include "controlplane/service/slot_json.h"
#include "proxy/slots_summary.h"
#include "proxy/svg.h"

namespace matchrdma {
namespace {

constexpr double kWidth = 1200, kLeft = 84, kRight = 28, kInner = kWidth - kLeft - kRight;
constexpr double kHead = 68, kLegend = 22, kRates = 250, kStrip = 14, kVolumes = 130, kTimes = 46, kGap = 26;
constexpr double kPanel =
    kHead + kLegend + kRates + 10 + kLegend + 2 * (kStrip + 4) + 8 + kLegend + kVolumes + kTimes;
constexpr const char *kText = "#222222", *kFaint = "#666666";

/// A curve. `ahead`: of the slot that the row governs.
struct Curve {
  const char* key;
  const char* name;
  const char* colour;
  double width;
  double SlotPoint::*value;
  bool ahead;
};
// In the order of drawing: what is compared stands in front.
constexpr Curve kRateCurves[] = {
    {"arrived", "arrived", "#b4b4b4", 2.6, &SlotPoint::arrived, false},
    {"acked", "acked", "#e08214", 1.0, &SlotPoint::acked, false},
    {"budget", "budget, in its slot", "#1a9850", 1.4, &SlotPoint::budget, true},
    {"capacity", "capacity c", "#111111", 1.6, &SlotPoint::capacity, false},
    {"forecast", "forecast, in its slot", "#2166ac", 1.4, &SlotPoint::forecast, true}};
constexpr Curve kVolumeCurves[] = {
    {"projected", "projected, in its slot", "#9970ab", 1.2, &SlotPoint::projected, true},
    {"queue", "queue: backlog and network", "#f4a582", 1.4, &SlotPoint::queue, false},
    {"backlog", "backlog of the proxy", "#b2182b", 1.4, &SlotPoint::backlog, false}};

// By the number of the level and of the kind of window.
constexpr std::array<const char*, 3> kLevelColours{"#c2e5c4", "#fdb863", "#d7301f"};
constexpr std::array<const char*, 4> kWindowColours{"#ebebeb", "#cfcbe6", "#9088c0", "#4a2382"};

/// A unit that leaves few digits.
struct Unit {
  const char* name;
  double size;
};
Unit time_unit(double ns) { return ns >= 2e9 ? Unit{"s", 1e9} : ns >= 2e6 ? Unit{"ms", 1e6} : Unit{"us", 1e3}; }
Unit volume_unit(double bytes) {
  return bytes >= 1e9   ? Unit{"GB", 1e9}
         : bytes >= 1e6 ? Unit{"MB", 1e6}
         : bytes >= 1e3 ? Unit{"kB", 1e3}
                        : Unit{"B", 1};
}

/// Duty: draws one receiver. Knows the slots that all pictures show.
class Panel {
 public:
  Panel(Drawing& p, const SlotSeries& s, int64_t first, int64_t last, double top) : p_(p), s_(s), y_(top) {
    area_.left = kLeft;
    area_.width = kInner;
    area_.first = first;
    area_.slots = static_cast<double>(last - first);
  }
  void draw() {
    head();
    rates();
    strips();
    volumes();
    times();
  }

 private:
  void head() {
    p_.text(kLeft, y_ + 18, "start", "Receiver " + receiver_text(s_) + ", span " + s_.span,
            "font-size=\"17\" font-weight=\"bold\" fill=\"#222222\"");
    constexpr size_t kLetters = 120;  // of a line
    double line = y_ + 38;
    std::string figures;
    for (const auto& [name, value] : summary_words(summary_of(s_))) {
      if (value == "-") continue;
      const std::string one = name + " " + value;
      if (figures.size() + one.size() > kLetters) {
        p_.text(kLeft, line, "start", std::exchange(figures, {}), "fill=\"#666666\"");
        line += 16;
      }
      figures += (figures.empty() ? "" : ",  ") + one;
    }
    p_.text(kLeft, line, "start", figures, "fill=\"#666666\"");
    y_ += kHead;
  }

  /// The text, and where the next one may begin.
  double label(double x, const std::string& t, const char* colour) {
    constexpr double kLetter = 6.6;
    p_.text(x, y_ + 14, "start", t, std::string("fill=\"") + colour + "\"");
    return x + kLetter * static_cast<double>(t.size()) + 16;
  }
  template <size_t N>
  void legend(const std::string& what, const Curve (&curves)[N]) {
    double x = label(kLeft, what, kText);
    for (const Curve& c : curves) {
      p_.out += "<path d=\"M" + coordinate(x) + ',' + coordinate(y_ + 10) +
                "h20\" stroke-width=\"3\" stroke=\"" + c.colour + "\"/>\n";
      x = label(x + 25, c.name, kText);
    }
    y_ += kLegend;
  }
  template <size_t N>
  double swatches(double x, const std::string& what, const std::array<const char*, N>& names,
                  const std::array<const char*, N>& colours) {
    x = label(x, what, kText);
    for (size_t i = 0; i < N; ++i) {
      p_.box(x, y_ + 4, 12, 12, std::string("fill=\"") + colours[i] + "\"");
      x = label(x + 16, names[i], kText);
    }
    return x;
  }

  template <size_t N>
  double most_of(const Curve (&curves)[N]) const {
    double most = 0;
    for (const Curve& c : curves)
      for (const SlotPoint& p : s_.points) most = std::max(most, p.*c.value);
    return most;
  }

  /// PlotArea, grid and curves. `most`: of the values, drawn in `unit`.
  template <size_t N>
  void plot(const Curve (&curves)[N], double height, int ticks, Unit unit) {
    const double values = most_of(curves);
    const double step = axis_step(values > 0 ? values : unit.size, ticks);
    area_.top = y_;
    area_.height = height;
    area_.most = std::max(values * 1.04, step);
    for (int i = 0; step * i <= area_.most; ++i) {
      const double y = area_.y(step * i);
      p_.line(kLeft, y, kLeft + kInner, y, "stroke=\"#e8e8e8\"");
      p_.text(kLeft - 8, y + 4, "end", axis_number(step * i / unit.size), "fill=\"#666666\"");
    }
    p_.text(kLeft - 46, y_ + height / 2, "end", unit.name, "fill=\"#222222\"");
    for (const Curve& c : curves) curve(c);
    p_.box(kLeft, y_, kInner, height, "fill=\"none\" stroke=\"#999999\"");
    y_ += height;
  }

  void curve(const Curve& c) {
    // By slot: where the round trip shrinks a later row may govern an earlier slot, or one again.
    std::map<int64_t, double> values;
    for (const SlotPoint& p : s_.points) values[c.ahead ? p.governs : p.slot] = p.*c.value;
    std::vector<PlotStep> steps;
    for (const auto& [slot, value] : values) steps.push_back({slot, value});
    p_.out += std::string("<path class=\"") + c.key + "\" fill=\"none\" stroke=\"" + c.colour +
              "\" stroke-width=\"" + coordinate(c.width) + "\" d=\"" + step_path(area_, steps) + "\"><title>" +
              c.name + "</title></path>\n";
  }

  void rates() {
    legend("Rates:", kRateCurves);
    plot(kRateCurves, kRates, 5, {"Gb/s", 1});
    y_ += 10;
  }

  void strips() {
    const double x = swatches(kLeft, "Congestion level:", service::kLevelKeys, kLevelColours);
    swatches(x + 20, "Rate window:", service::kWindowKeys, kWindowColours);
    y_ += kLegend;
    strip("level", kLevelColours, [](const SlotPoint& p) { return static_cast<size_t>(p.level); });
    strip("window", kWindowColours, [](const SlotPoint& p) { return static_cast<size_t>(p.window); });
    y_ += 8;
  }

  /// Equal neighbours are one box. Of slots that share a pixel the highest counts.
  template <size_t N, class Place>
  void strip(const char* name, const std::array<const char*, N>& colours, Place place) {
    p_.text(kLeft - 8, y_ + 11, "end", name, "fill=\"#666666\"");
    p_.out += std::string("<g class=\"") + name + "\">\n";
    const std::vector<SlotPoint>& all = s_.points;
    for (size_t i = 0; i < all.size();) {
      size_t end = i + 1, shade = place(all[i]);
      const double x = area_.x(all[i].slot);
      for (; end < all.size() && all[end].slot == all[end - 1].slot + 1; ++end) {
        const size_t next = place(all[end]);
        if (next != shade && area_.x(all[end].slot) - x >= 1) break;
        shade = std::max(shade, next);
      }
      const double right = area_.x(all[end - 1].slot + 1);
      p_.box(x, y_, std::max(right - x, 1.0), kStrip, std::string("fill=\"") + colours[shade] + "\"");
      i = end;
    }
    p_.out += "</g>\n";
    p_.box(kLeft, y_, kInner, kStrip, "fill=\"none\" stroke=\"#999999\"");
    y_ += kStrip + 4;
  }

  void volumes() {
    legend("Waiting:", kVolumeCurves);
    plot(kVolumeCurves, kVolumes, 4, volume_unit(most_of(kVolumeCurves)));
  }

  void times() {
    const double ns = area_.slots * static_cast<double>(s_.slot.ns);
    const Unit unit = time_unit(ns);
    const double step = axis_step(ns, 10);
    for (int i = 0; step * i <= ns; ++i) {
      const double x = kLeft + kInner * step * i / ns;
      p_.line(x, y_, x, y_ + 5, "stroke=\"#999999\"");
      p_.text(x, y_ + 19, "middle", axis_number(step * i / unit.size), "fill=\"#666666\"");
    }
    p_.text(kLeft + kInner / 2, y_ + 38, "middle",
            std::string(unit.name) + " since slot " + std::to_string(area_.first) + " began; a slot is " +
                to_text(s_.slot) +
                "; where there is no line the receiver was idle for a second, or nobody knows",
            "fill=\"#222222\"");
  }

  Drawing& p_;
  const SlotSeries& s_;
  double y_;
  PlotArea area_;
};

/// Slots that pictures with this length of a slot show: from the first to behind the last that one of them has.
struct Range {
  int64_t first, last;
};
std::map<int64_t, Range> ranges_of(const std::vector<const SlotSeries*>& shown) {
  std::map<int64_t, Range> ranges;
  for (const SlotSeries* s : shown) {
    Range& r = ranges.try_emplace(s->slot.ns, Range{s->points.front().slot, 0}).first->second;
    for (const SlotPoint& p : s->points) {
      r.first = std::min(r.first, p.slot);
      r.last = std::max(r.last, p.governs + 1);
    }
  }
  return ranges;
}

std::string how_many(size_t shown, size_t all) {
  return shown == all ? ""
                      : "The " + std::to_string(shown) + " busiest of " + std::to_string(all) + " receivers";
}

std::string drawn(const std::vector<const SlotSeries*>& shown, size_t all) {
  const std::string note = how_many(shown.size(), all);
  const double top = note.empty() ? 10 : 34;
  const double height = top + static_cast<double>(shown.size()) * (kPanel + kGap);
  Drawing p;
  p.open(kWidth, height, "12.5", "Slots of the rate estimator");
  if (!note.empty()) p.text(kLeft, 22, "start", note, "fill=\"#222222\"");
  const auto ranges = ranges_of(shown);
  for (size_t i = 0; i < shown.size(); ++i) {
    const Range& r = ranges.at(shown[i]->slot.ns);
    p.out += "<g class=\"receiver\">\n";
    Panel(p, *shown[i], r.first, r.last, top + static_cast<double>(i) * (kPanel + kGap)).draw();
    p.out += "</g>\n";
  }
  return p.out + "</svg>\n";
}

}  // namespace

std::string slots_svg(const std::vector<SlotSeries>& all) {
  return drawn(busiest(all, kMostPictures), all.size());
}

std::string slots_html(const std::vector<SlotSeries>& all) {
  const auto shown = busiest(all, kMostPictures);
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>Slots of the rate "
      "estimator</title>\n<style>\nbody { font-family: sans-serif; margin: 24px; color: #222222; }\n"
      "table { border-collapse: collapse; margin-bottom: 24px; }\n"
      "th, td { padding: 4px 12px; border-bottom: 1px solid #dddddd; text-align: right; }\n"
      "th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }\nsvg { max-width: 100%; height: auto; }\n"
      "</style>\n</head>\n<body>\n<h1>Slots of the rate "
      "estimator</h1>\n<table>\n<tr><th>span</th><th>receiver</th>";
  for (const auto& [name, value] : summary_words({})) out += "<th>" + xml_text(name) + "</th>";
  out += "</tr>\n";
  for (const SlotSeries& s : all) {
    out += "<tr><td>" + xml_text(s.span) + "</td><td>" + xml_text(receiver_text(s)) + "</td>";
    for (const auto& [name, value] : summary_words(summary_of(s))) out += "<td>" + xml_text(value) + "</td>";
    out += "</tr>\n";
  }
  return out + "</table>\n" + drawn(shown, all.size()) + "</body>\n</html>\n";
}

}  // namespace matchrdma
