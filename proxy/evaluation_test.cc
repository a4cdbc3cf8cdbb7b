// Means, claims and the plan's execution.
#include "proxy/evaluation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "proxy/evaluation_claims.h"

namespace matchrdma {
namespace {

EvaluationFigure figure(const std::string& name, const std::string& metric,
                        std::vector<std::pair<std::string, std::vector<std::pair<double, double>>>> series) {
  EvaluationFigure f{.what = {.name = name, .title = name, .x_axis = "x", .metric = metric, .y_axis = "y"}};
  for (const auto& [line, points] : series) {
    EvaluationSeries s{.name = line};
    for (const auto& [x, y] : points) s.points.push_back({x, {y, y, y, 1}});
    f.series.push_back(s);
  }
  return f;
}

TEST(Estimate, IntervalIsStudents) {
  const Estimate one = estimate({5});
  EXPECT_EQ(one.low, 5);
  EXPECT_EQ(one.high, 5);
  const Estimate three = estimate({1, 2, 3});
  EXPECT_DOUBLE_EQ(three.mean, 2);
  EXPECT_NEAR(three.high - three.mean, 4.303 / std::sqrt(3.0), 1e-9);  // standard deviation 1, two degrees
  EXPECT_EQ(three.seeds, 3u);
}

TEST(Claims, SpeedupIsTheBestOfAllPoints) {
  const auto at = [](double far) {
    return claims_of({figure("throughput 4 KiB", "delivered_gbps_per_pair",
                             {{"dcqcn", {{1, 20}, {1000, 1}}}, {"matchrdma", {{1, 20}, {1000, far}}}})},
                     {});
  };
  EXPECT_TRUE(at(20)[0].met);
  EXPECT_NE(at(20)[0].ours.find("20.0 times (4 KiB, 1000 km)"), std::string::npos);
  EXPECT_FALSE(at(19)[0].met);
  EXPECT_TRUE(at(20)[1].met) << "flat over distance";
  EXPECT_FALSE(at(19)[1].met) << "below 97 % of 20";
}

TEST(Claims, CongestionCountsAtTheLongestDistance) {
  const auto met = [](double far) {
    const auto claims =
        claims_of({figure("congestion", "otn_peak_mb",
                          {{"dcqcn", {{1, 1}, {1000, 100}}}, {"matchrdma", {{1, 5}, {1000, far}}}}),
                   figure("congestion", "paused",
                          {{"dcqcn", {{1, 0}, {1000, 0.5}}}, {"matchrdma", {{1, 0}, {1000, far}}}})},
                  {});
    std::vector<bool> out;
    for (const EvaluationClaim& c : claims)
      if (c.figure == "3c" || c.figure == "3d") out.push_back(c.met);
    return out;
  };
  EXPECT_EQ(met(37), (std::vector<bool>{true, false}));
  EXPECT_EQ(met(38), (std::vector<bool>{false, false}));
  EXPECT_EQ(met(0.02), (std::vector<bool>{true, true}));
}

TEST(Claims, WhatWasNotRunIsNotMet) {
  for (const EvaluationClaim& c : claims_of({}, {})) EXPECT_FALSE(c.met) << c.figure;
}

sim::Plan small_plan() {
  sim::Plan plan;
  plan.figures.push_back(
      {.name = "f", .title = "f", .x_axis = "km", .metric = "delivered_gbps_per_pair", .y_axis = "Gb/s"});
  for (const uint64_t seed : {1, 2, 3}) {
    sim::Case c;
    c.figure = "f";
    c.series = "dcqcn";
    c.x = 1;
    c.world.scheme = sim::LongHaul::kDcqcn;
    c.world.seed = seed;
    c.window = {.warm_up = sim::SimSpan::micros(100), .length = sim::SimSpan::micros(500)};
    plan.cases.push_back(c);
  }
  return plan;
}

TEST(RunPlan, ThreadsChangeNothing) {
  const sim::Plan plan = small_plan();
  size_t told = 0;
  const auto one = run_plan(plan, 1, [&](size_t done, size_t all) {
    EXPECT_EQ(done, ++told);
    EXPECT_EQ(all, 3u);
  });
  const auto four = run_plan(plan, 4, [](size_t, size_t) {});
  ASSERT_EQ(one.size(), four.size());
  for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].values, four[i].values);
  const Evaluation e = evaluation_of(plan, one, true, "x");
  ASSERT_EQ(e.figures.size(), 1u);
  ASSERT_EQ(e.figures[0].series.size(), 1u);
  EXPECT_EQ(e.figures[0].series[0].points[0].y.seeds, 3u);
}

TEST(Plan, EveryFigureHasCasesAndEveryCaseAFigure) {
  for (const bool quick : {true, false}) {
    const sim::Plan plan = sim::evaluation_plan(quick);
    for (const sim::Figure& f : plan.figures)
      EXPECT_TRUE(std::any_of(plan.cases.begin(), plan.cases.end(), [&](const sim::Case& c) {
        return c.figure == f.name;
      })) << f.name;
    for (const sim::Case& c : plan.cases)
      EXPECT_TRUE(std::any_of(plan.figures.begin(), plan.figures.end(), [&](const sim::Figure& f) {
        return f.name == c.figure;
      })) << c.figure;
  }
}

}  // namespace
}  // namespace matchrdma
