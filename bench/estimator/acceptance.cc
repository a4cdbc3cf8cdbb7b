#include "bench/estimator/acceptance.h"

#include <algorithm>

#include "dataplane/base/check.h"

namespace matchrdma::estimator_bench {
namespace {

// Order of rows(). Cells that differ from the design's page: docs/decisions/0015-estimator.md.
constexpr std::array<std::array<Figures, 3>, 12> kRequired{{
    {{{1, 99.5, 0.5, 0.1}, {1, 99.5, 0.5, 0.1}, {1, 99.5, 0.5, 0.1}}},
    {{{1, 99.5, 2.2, 0.1}, {1, 99.5, 9.8, 0.1}, {1.1, 99.3, 84, 0.4}}},
    {{{1, 99.6, 1.4, 0.1}, {1.1, 99.5, 2.5, 0.1}, {1.5, 99.5, 23, 0.5}}},
    {{{1, 99.6, 1.8, 0.1}, {1, 99.6, 3.2, 0.1}, {1, 99.6, 4.1, 0.3}}},
    {{{2.4, 98.5, 1.4, 0.1}, {8.7, 95, 10.2, 0.4}, {15.3, 92.2, 102, 6.4}}},
    {{{1, 99.3, 1.4, 0.1}, {5, 96.8, 10.9, 0.2}, {25, 87.9, 96, 11.6}}},
    {{{1, 99.6, 1.4, 0.1}, {2, 99.1, 8.8, 0.2}, {2.1, 99, 18.3, 1.1}}},
    {{{6.3, 95.2, 1.9, 0.1}, {20, 86.4, 14.3, 1.4}, {70, 83.8, 118, 40}}},
    {{{6.1, 99.4, 1.1, 0.2}, {17.2, 95.3, 4.2, 0.9}, {17.2, 96.6, 19, 2.9}}},
    {{{1, 99.5, 0.5, 0.1}, {1, 99.5, 0.5, 0.1}, {1, 99.5, 0.8, 0.2}}},
    {{{2, 99.5, 1.9, 0.1}, {1, 99.5, 4.9, 0.1}, {1, 99.5, 30, 0.4}}},
    {{{-1, 99.5, 0.6, 0.1}, {-1, 99.5, 1.9, 0.1}, {-1, 99.5, 15.8, 0.1}}},
}};

void mean_in(double& mean, double v, int n) { mean += (v - mean) / n; }

}  // namespace

void Cell::add(const LoopResult& r) {
  ++runs;
  mean_in(got.error, r.weighted_error, runs);
  mean_in(got.utilisation, r.utilisation, runs);
  mean_in(got.mean_mb, r.mean_mb, runs);
  got.peak_mb = std::max(got.peak_mb, r.peak_mb);
  bound_mb = std::max(bound_mb, r.bound_mb);
  if (broken.empty()) broken = r.broken;
}

const Figures& required(size_t row, size_t delay) {
  MRDMA_CHECK(row < kRequired.size() && delay < kDelays.size());
  return kRequired[row][delay];
}

std::string verdict(const Cell& c, const Figures& required) {
  std::string missed;
  const auto miss = [&](bool is, const char* what) {
    if (is) missed += (missed.empty() ? "" : ", ") + std::string(what);
  };
  miss(!c.broken.empty(), "bytes not conserved");
  miss(required.error >= 0 && c.got.error > required.error, "error");
  miss(c.got.utilisation < required.utilisation, "utilisation");
  miss(c.got.peak_mb > required.peak_mb, "peak");
  miss(c.got.mean_mb > required.mean_mb, "mean");
  return missed.empty() ? "ok" : "MISSED: " + missed;
}

std::vector<Cell> run_cell(const Row& row, Duration one_way, Duration slot, uint64_t seeds,
                           const std::vector<ContenderKind>& kinds) {
  std::vector<Cell> cells(kinds.size());
  for (uint64_t seed = 1; seed <= (row.chance ? seeds : 1); ++seed) {
    for (const Series& series : row.make(seed)) {
      for (size_t k = 0; k < kinds.size(); ++k) {
        const std::unique_ptr<Contender> contender = make_contender(kinds[k], slot, one_way);
        cells[k].add(run_loop(series, {.slot = slot, .one_way = one_way}, *contender));
      }
    }
  }
  return cells;
}

}  // namespace matchrdma::estimator_bench
