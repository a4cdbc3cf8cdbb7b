#include "bench/fattree/plan.h"

#include <algorithm>

namespace matchrdma::fattree_bench {
namespace {

using sim::Balancing;
using sim::FatTreeCase;
using sim::SimSpan;

FatTreeCase base(const Scope& scope) {
  FatTreeCase c;
  c.duration = SimSpan::micros(scope.quick ? 2'500 : 6'000);
  c.warm_up = SimSpan::micros(scope.quick ? 500 : 2'000);
  return c;
}

/// At the highest load: how much of the result is due to one part or number.
std::vector<Run> variations(const FatTreeCase& at) {
  std::vector<Run> all;
  const auto add = [&](const char* name, Balancing scheme) -> FatTreeCase& {
    all.push_back({kStorage, name, false, at});
    all.back().what.scheme = scheme;
    return all.back().what;
  };
  add("letflow, gap 500 us", Balancing::kLetFlow).flowlet_gap = SimSpan::micros(500);
  add("letflow, gap 20 us", Balancing::kLetFlow).flowlet_gap = SimSpan::micros(20);
  add("flowcell, 1 path", Balancing::kFlowcell).flowcell.paths = 1;
  add("flowcell, 8 paths", Balancing::kFlowcell).flowcell.paths = 8;
  FatTreeCase& large = add("flowcell, cells of 64 KiB", Balancing::kFlowcell);
  large.flowcell.rule.least_cell = 64 << 10;
  large.flowcell.window = 256 << 10;
  return all;
}

}  // namespace

std::vector<Run> plan(const Scope& scope) {
  std::vector<Run> all;
  for (uint64_t seed = 1; seed <= (scope.quick ? 1 : scope.seeds); ++seed) {
    FatTreeCase c = base(scope);
    c.seed = seed;
    for (const char* sizes : {kStorage, kSolar}) {
      c.sizes = sizes == kStorage ? std::span<const sim::SizeKnot>(sim::kAliStorage2019) : sim::kSolar2022;
      for (const double load : {0.2, 0.4, 0.6, kHighest}) {
        c.load = load;
        for (const Balancing scheme : sim::kBalancings) {
          c.scheme = scheme;
          all.push_back({sizes, sim::balancing_name(scheme), true, c});
        }
        if (load != kHighest || sizes != kStorage || scope.quick) continue;
        for (Run& r : variations(c)) all.push_back(std::move(r));
      }
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Run& a, const Run& b) { return a.what.load > b.what.load; });
  return all;
}

}  // namespace matchrdma::fattree_bench
