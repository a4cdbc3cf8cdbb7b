#pragma once
// All that the evaluation runs (SIMULATOR 11).
#include <cstdint>
#include <string>
#include <vector>

#include "sim/evaluation/case.h"

namespace matchrdma::sim {

/// What is drawn of cases with the same name.
struct Figure {
  std::string name;    ///< as Case::figure
  std::string title;   ///< for people
  std::string x_axis;  ///< with unit
  std::string metric;  ///< name in Values
  std::string y_axis;  ///< with unit
  bool x_logarithmic = true, y_logarithmic = false;
};

struct Plan {
  std::vector<Figure> figures;
  std::vector<Case> cases;  ///< each once for every seed; the dearest first
};

/// quick: one seed and fewer points.
Plan evaluation_plan(bool quick);

}  // namespace matchrdma::sim
