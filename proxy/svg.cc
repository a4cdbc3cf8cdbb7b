#include "proxy/svg.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace matchrdma {

std::string xml_text(const std::string& s) {
  std::string out;
  for (const char c : s) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c >= ' ' && c <= '~' ? c : '?';
    }
  }
  return out;
}

std::string coordinate(double v) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f", v);
  return text;
}

double round_up(double v) {
  const double power = std::pow(10, std::floor(std::log10(std::max(v, 1e-9))));
  for (const double step : {1.0, 2.0, 2.5, 5.0}) {
    if (step * power >= v) return step * power;
  }
  return 10 * power;
}

double axis_step(double most, int wanted) { return round_up(most / wanted); }

std::string axis_number(double v) {
  char text[64];
  std::snprintf(text, sizeof text, "%.6g", v);
  return text;
}

void Drawing::open(double width, double height, const std::string& font_size, const std::string& name) {
  out += "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + coordinate(width) + "\" height=\"" +
         coordinate(height) + "\" viewBox=\"0 0 " + coordinate(width) + ' ' + coordinate(height) +
         "\" font-family=\"sans-serif\" font-size=\"" + font_size + "\">\n<title>" + xml_text(name) +
         "</title>\n<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
}

void Drawing::text(double x, double y, const char* anchor, const std::string& t, const std::string& paint) {
  out += "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" text-anchor=\"" + anchor + "\" " +
         paint + ">" + xml_text(t) + "</text>\n";
}

void Drawing::line(double x1, double y1, double x2, double y2, const std::string& paint) {
  out += "<path d=\"M" + coordinate(x1) + ',' + coordinate(y1) + 'L' + coordinate(x2) + ',' + coordinate(y2) +
         "\" " + paint + "/>\n";
}

void Drawing::box(double x, double y, double width, double height, const std::string& paint) {
  out += "<rect x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" width=\"" + coordinate(width) +
         "\" height=\"" + coordinate(height) + "\" " + paint + "/>\n";
}

double PlotArea::y(double value) const { return top + height * (1 - std::clamp(value / most, 0.0, 1.0)); }

std::string step_path(const PlotArea& f, const std::vector<PlotStep>& steps) {
  std::string d;
  const auto point = [&d](char command, double a, double b) {
    d += command + coordinate(a) + ',' + coordinate(b);
  };
  const double slot_width = f.width / f.slots;
  for (size_t i = 0; i < steps.size();) {
    // Neighbours until the pixel is full: one step where slots are wide.
    size_t end = i + 1;
    double least = steps[i].value, most = least;
    const double x = f.x(steps[i].slot);
    while (end < steps.size() && steps[end].slot == steps[end - 1].slot + 1 &&
           f.x(steps[end].slot + 1) - x <= 1) {
      least = std::min(least, steps[end].value);
      most = std::max(most, steps[end].value);
      ++end;
    }
    const bool joined = i > 0 && steps[i].slot == steps[i - 1].slot + 1;
    point(joined ? 'L' : 'M', x, f.y(steps[i].value));
    if (end > i + 1 && least != most) {
      point('L', x, f.y(least));
      point('L', x, f.y(most));
    }
    const PlotStep& last = steps[end - 1];
    if (last.value != steps[i].value || least != most) point('L', x, f.y(last.value));
    // A lone slot is seen however narrow it is.
    const bool lone = !joined && (end == steps.size() || steps[end].slot != last.slot + 1);
    d += 'H' + coordinate(x + std::max(static_cast<double>(last.slot + 1 - steps[i].slot) * slot_width,
                                       lone ? 1.0 : 0.0));
    i = end;
  }
  return d;
}

}  // namespace matchrdma
