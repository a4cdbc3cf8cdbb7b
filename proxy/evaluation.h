#pragma once
// The whole evaluation: its runs, their means over seeds, and what the paper claims beside them (SIMULATOR 11).
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/evaluation/plan.h"

namespace matchrdma {

/// One run.
struct EvaluationRun {
  sim::Case what;
  sim::Values values;
  double cpu_seconds = 0;
};

/// Mean over seeds with its 95 % confidence interval (Student's t); of one seed both ends are the mean.
struct Estimate {
  double mean = 0, low = 0, high = 0;
  size_t seeds = 0;
};

/// A line of a figure.
struct EvaluationSeries {
  std::string name;
  struct Point {
    double x;
    Estimate y;
  };
  std::vector<Point> points{};  ///< by x
};

struct EvaluationFigure {
  sim::Figure what;
  std::vector<EvaluationSeries> series{};
};

/// What the paper says, what must be reached, and what was.
struct EvaluationClaim {
  std::string figure;  ///< of the paper
  std::string paper, wanted{}, ours{};
  bool met = false;
  std::string cause{};  ///< of a miss
};

struct Evaluation {
  std::string commit;  ///< of the program
  bool quick = false;
  std::vector<EvaluationRun> runs{};  ///< in the order of the plan
  std::vector<EvaluationFigure> figures{};
  std::vector<EvaluationClaim> claims{};
  std::vector<std::string> choices{};  ///< of what the paper leaves open (SIMULATOR 8)
};

/// Runs the plan on `jobs` threads. progress: runs done and all, from one thread at a time. Same plan, same
/// result, whatever the number of threads (cpu_seconds aside).
std::vector<EvaluationRun> run_plan(const sim::Plan& plan, unsigned jobs,
                                    const std::function<void(size_t, size_t)>& progress);
/// Figures, claims and choices from the runs.
Evaluation evaluation_of(const sim::Plan& plan, std::vector<EvaluationRun> runs, bool quick,
                         std::string commit);

Estimate estimate(const std::vector<double>& values);

}  // namespace matchrdma
