#pragma once
// A chart of lines with confidence bars, as SVG.
#include <string>
#include <vector>

namespace matchrdma {

struct LinePlot {
  struct Axis {
    std::string title;  ///< with unit
    bool logarithmic = false;
  };
  struct Point {
    double x = 0, y = 0;
    double low = 0, high = 0;  ///< of the bar; none where they are equal
  };
  struct Series {
    std::string name;
    size_t look = 0;  ///< colour, marker and dashes go with it: all three differ from those of the next seven
    std::vector<Point> points;  ///< by x
  };
  std::string title;
  Axis x, y;
  std::vector<Series> series;
  bool beside = true;  ///< points of one x stand a little apart, by series; no: exactly where they belong
};

/// Same plot, same text. All values are within the frame. A
/// bar that is not ends in an arrow; what a logarithmic axis cannot show stands at its low end. Where either
/// happens, and where a value is no number and is left out, a line below says so. Classes of the elements, for
/// a page's style: paper, ink, faint, grid, frame, hollow.
std::string line_plot_svg(const LinePlot& plot);

}  // namespace matchrdma
