#pragma once
// From values to places on an axis, with round ticks.
#include <string>
#include <vector>

namespace matchrdma {

struct PlotTick {
  double value = 0;
  std::string text;  ///< empty: a small one between two others
};

/// Duty: an axis that begins and ends at a tick. Does not know where it is drawn.
class PlotScale {
 public:
  /// Ticks at multiples of 1, 2, 2.5 or 5 times a power of ten, about `wanted` of them. least may be most.
  static PlotScale linear(double least, double most, int wanted);
  /// Both above 0. Ticks at the decades; few decades have 1-2-5.
  static PlotScale logarithmic(double least, double most, int wanted);

  /// 0 at the low end, 1 at the high end. What is outside stands at the end that is nearer; on a logarithmic
  /// scale that is the low end for 0 and less.
  double place(double value) const;
  bool is_logarithmic() const { return logarithmic_; }
  double low() const { return low_; }
  double high() const { return high_; }
  const std::vector<PlotTick>& ticks() const { return ticks_; }

 private:
  PlotScale(bool logarithmic, double low, double high) : logarithmic_(logarithmic), low_(low), high_(high) {}

  bool logarithmic_;
  double low_, high_;
  std::vector<PlotTick> ticks_;
};

/// Short: "0.5", "1000", "1e-6".
std::string tick_text(double v);

}  // namespace matchrdma
