#include "proxy/evaluation.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "proxy/evaluation_claims.h"
#include "proxy/parallel.h"

namespace matchrdma {
namespace {

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

/// Student's t for a two-sided 95 % interval, by degrees of freedom from 1.
double t_quantile(size_t degrees) {
  constexpr std::array kTable{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
  return degrees <= kTable.size() ? kTable[degrees - 1] : 1.96;
}

EvaluationFigure draw(const sim::Figure& f, const std::vector<EvaluationRun>& runs) {
  // Series in the order of the plan would be that of cost, so by name; points by x.
  std::map<std::string, std::map<double, std::vector<double>>> all;
  for (const EvaluationRun& r : runs) {
    if (r.what.figure != f.name) continue;
    if (const auto v = value_of(r.values, f.metric)) all[r.what.series][r.what.x].push_back(*v);
  }
  EvaluationFigure out{.what = f};
  for (const auto& [name, points] : all) {
    EvaluationSeries s{.name = name};
    for (const auto& [x, values] : points) s.points.push_back({x, estimate(values)});
    out.series.push_back(std::move(s));
  }
  return out;
}

}  // namespace

Estimate estimate(const std::vector<double>& values) {
  Estimate e{.seeds = values.size()};
  if (values.empty()) return e;
  for (const double v : values) e.mean += v / static_cast<double>(values.size());
  double squares = 0;
  for (const double v : values) squares += (v - e.mean) * (v - e.mean);
  const auto n = static_cast<double>(values.size());
  const double half = values.size() < 2 ? 0 : t_quantile(values.size() - 1) * std::sqrt(squares / (n - 1) / n);
  e.low = e.mean - half;
  e.high = e.mean + half;
  return e;
}

std::vector<EvaluationRun> run_plan(const sim::Plan& plan, unsigned jobs,
                                    const std::function<void(size_t, size_t)>& progress) {
  std::vector<EvaluationRun> runs(plan.cases.size());
  size_t done = 0;
  std::mutex telling;
  in_parallel(runs.size(), jobs, [&](size_t i) {
    const double start = cpu_seconds();
    runs[i] = {plan.cases[i], sim::run_case(plan.cases[i]), 0};
    runs[i].cpu_seconds = cpu_seconds() - start;
    const std::lock_guard lock(telling);
    progress(++done, runs.size());
  });
  return runs;
}

Evaluation evaluation_of(const sim::Plan& plan, std::vector<EvaluationRun> runs, bool quick,
                         std::string commit) {
  Evaluation e{.commit = std::move(commit), .quick = quick, .runs = std::move(runs)};
  for (const sim::Figure& f : plan.figures) e.figures.push_back(draw(f, e.runs));
  e.claims = claims_of(e.figures, e.runs);
  e.choices = evaluation_choices();
  return e;
}

}  // namespace matchrdma
