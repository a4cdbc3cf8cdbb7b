#pragma once
// Pieces of an SVG drawing.
#include <cstdint>
#include <string>
#include <vector>

namespace matchrdma {

/// For the text between two tags or within quotes. What XML cannot hold, and all that is not ASCII, becomes
/// '?'.
std::string xml_text(const std::string& s);
/// Short, for coordinates: one decimal.
std::string coordinate(double v);
/// A round number not below v: 1, 2, 2.5 or 5 times a power of ten.
double round_up(double v);
/// Steps of an axis from 0 to `most`, about `wanted` of them, and as few digits as they need.
double axis_step(double most, int wanted);
std::string axis_number(double v);

/// Duty: writes elements one after the other. Knows nothing of what they show. `paint`: attributes.
class Drawing {
 public:
  /// Opens the picture: its size, its font and its name for those who do not see it.
  void open(double width, double height, const std::string& font_size, const std::string& name);
  void text(double x, double y, const char* anchor, const std::string& t, const std::string& paint = "");
  void line(double x1, double y1, double x2, double y2, const std::string& paint);
  void box(double x, double y, double width, double height, const std::string& paint);
  std::string out;
};

/// A value that holds for one slot.
struct PlotStep {
  int64_t slot = 0;
  double value = 0;
};

/// Where slots and values stand.
struct PlotArea {
  double left = 0, top = 0, width = 0, height = 0;
  int64_t first = 0;  ///< slot at the left edge
  double slots = 1;   ///< across the width
  double most = 1;    ///< value at the top edge
  double x(int64_t slot) const { return left + width * static_cast<double>(slot - first) / slots; }
  double y(double value) const;
};

/// The `d` of a path: every slot a level step, interrupted where a slot has none. Where many slots share a
/// pixel, their least and highest value are drawn. `steps` rise by slot.
std::string step_path(const PlotArea& f, const std::vector<PlotStep>& steps);

}  // namespace matchrdma
