#include "proxy/evaluation_page.h"

#include <gtest/gtest.h>

#include <sstream>

#include "proxy/evaluation_parameters.h"
#include "proxy/test_xml.h"

namespace matchrdma {
namespace {

EvaluationRun run_of(const char* series, sim::LongHaul scheme, double x, uint64_t seed, sim::Values values) {
  EvaluationRun r;
  r.what.figure = "congestion";
  r.what.series = series;
  r.what.x = x;
  r.what.world.scheme = scheme;
  r.what.world.seed = seed;
  r.what.world.topology.km = static_cast<int64_t>(x);
  r.values = std::move(values);
  r.cpu_seconds = 30;
  return r;
}

Evaluation sample() {
  Evaluation e;
  e.commit = "abc123";
  e.runs = {run_of("dcqcn", sim::LongHaul::kDcqcn, 100, 1, {{"complete", 1}, {"peak", 0.1}}),
            run_of("dcqcn", sim::LongHaul::kDcqcn, 100, 2, {{"complete", 1}, {"peak", 0.3}}),
            run_of("a \"b\", c", sim::LongHaul::kMatchRdma, 100, 1, {{"complete", 0}})};
  e.figures = {{{"congestion", "Peak < all & more", "distance, km", "peak", "MB"},
                {{"dcqcn", {{100, {0.2, 0.05, 0.35, 2}}}}, {"a \"b\", c", {{10, {5, 5, 5, 1}}}}}}};
  e.claims = {{"3b", "20x", ">= 20x", "21x", true, ""}, {"3c", "-62.7 %", "more", "-50 %", false, "<slow>"}};
  e.choices = {"payload: 4096 B & no less"};
  return e;
}

TEST(EvaluationPage, IsWellFormedAndNeedsNothingElse) {
  const std::string html = evaluation_html(sample());
  EXPECT_EQ(broken_xml(html), "");
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
  for (const char* outside : {"<script", "<link", "src=", "href=", "url(", "@import"})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
}

TEST(EvaluationPage, BeginsWithItsOriginAndTheClaims) {
  const std::string html = evaluation_html(sample());
  EXPECT_NE(html.find("Commit abc123; full; 3 runs; seeds: 1, 2; CPU time 1.5 min."), std::string::npos);
  EXPECT_NE(html.find("<td class=\"met\">met</td>"), std::string::npos);
  EXPECT_NE(html.find(">MISSED</span>: &lt;slow&gt;</td>"), std::string::npos);
  size_t before = 0;
  for (const char* part : {"class=\"facts\"", "class=\"claims\"", "<figure>", "payload: 4096 B &amp; no less",
                           "class=\"parameters\""}) {
    EXPECT_GT(html.find(part), before) << part;
    before = html.find(part);
  }
  Evaluation quick = sample();
  quick.quick = true;
  EXPECT_NE(evaluation_html(quick).find("; quick"), std::string::npos);
}

TEST(EvaluationPage, AMissWithoutCauseSaysSo) {
  Evaluation e = sample();
  e.claims[1].cause.clear();
  EXPECT_NE(evaluation_html(e).find(">MISSED</span>: cause not known"), std::string::npos);
}

TEST(EvaluationPage, RunsThatDidNotEndAreNamed) {
  EXPECT_NE(evaluation_html(sample()).find("<li>congestion, a &quot;b&quot;, c, x = 100, seed 1</li>"),
            std::string::npos);
  Evaluation e = sample();
  e.runs.pop_back();
  EXPECT_EQ(evaluation_html(e).find("did not come to their end"), std::string::npos);
}

TEST(EvaluationPage, EachFigureHasItsData) {
  const std::string html = evaluation_html(sample());
  EXPECT_EQ(count(html, "<td>0.2 (0.05 to 0.35)</td>"), 1u);
  // One seed: a value without an interval; the other series has nothing there.
  EXPECT_EQ(count(html, "<tr><td>10</td><td>-</td><td>5</td></tr>"), 1u);
  EXPECT_EQ(count(html, "<path class=\"bar\""), 1u);
}

TEST(EvaluationPage, ASchemeLooksTheSameEverywhere) {
  Evaluation e;
  e.figures = {{{}, {{"matchrdma", {{1, {1, 1, 1, 1}}}}}},
               {{}, {{"other", {{1, {1, 1, 1, 1}}}}, {"matchrdma", {{1, {1, 1, 1, 1}}}}}}};
  const std::string html = evaluation_html(e);
  const auto stroke_of_line = [&](size_t n) {
    size_t at = 0;
    for (size_t i = 0; i <= n; ++i) at = html.find("<path class=\"series\"", at + 1);
    const size_t stroke = html.find(" stroke=\"", at);
    return html.substr(stroke, 18);
  };
  EXPECT_EQ(stroke_of_line(0), stroke_of_line(2));
  EXPECT_NE(stroke_of_line(0), stroke_of_line(1));
}

TEST(EvaluationPage, NothingIsAPage) {
  Evaluation e;
  e.figures.push_back({{"f", "t", "x", "m", "y"}, {}});
  const std::string html = evaluation_html(e);
  EXPECT_EQ(broken_xml(html), "");
  EXPECT_NE(html.find("No run gave this value."), std::string::npos);
  EXPECT_EQ(broken_xml(evaluation_html({})), "");
}

TEST(EvaluationPage, ParametersAreThoseInUse) {
  const auto has = [](const sim::Case& c, const std::string& wanted) {
    for (const auto& [name, value] : evaluation_parameters(c))
      if (name + " = " + value == wanted) return true;
    return false;
  };
  sim::Case c;
  c.world.scheme = sim::LongHaul::kThemis;
  EXPECT_TRUE(has(c, "scheme = themis"));
  EXPECT_TRUE(has(c, "THEMIS loop delay = 0.1 us"));
  EXPECT_TRUE(has(c, "DCQCN increase timer = 900 us"));
  EXPECT_FALSE(has(c, "MatchRDMA gate = yes"));
  c.world.scheme = sim::LongHaul::kMatchRdma;
  c.world.topology.down = {
      {sim::SimTime{} + sim::SimSpan::micros(5), sim::SimTime{} + sim::SimSpan::micros(9)}};
  c.load.kind = sim::LoadSpec::Kind::kMixed;
  EXPECT_TRUE(has(c, "MatchRDMA gate = yes"));
  EXPECT_TRUE(has(c, "DCQCN increase timer = 300 us"));
  EXPECT_TRUE(has(c, "long link dark = 5 us to 9 us"));
  EXPECT_TRUE(has(c, "load = 30 %"));
  EXPECT_FALSE(has(c, "outstanding = 1"));
}

TEST(EvaluationPage, ParametersOfAllRunsStandInOneTable) {
  Evaluation e = sample();
  e.runs.push_back(run_of("dcqcn", sim::LongHaul::kDcqcn, 20, 1, {}));
  const std::string html = evaluation_html(e);
  EXPECT_NE(html.find("<tr><td>distance</td><td>20 km; 100 km</td></tr>"), std::string::npos);
  EXPECT_NE(html.find("<tr><td>congestion, dcqcn, x = 100</td><td>2</td><td>scheme dcqcn; distance 100 km"),
            std::string::npos);
}

TEST(EvaluationData, CsvHasALineForEachValue) {
  std::ostringstream out;
  write_evaluation_csv(out, sample());
  EXPECT_EQ(out.str(),
            "figure,series,x,seed,metric,value\n"
            "congestion,dcqcn,100,1,complete,1\n"
            "congestion,dcqcn,100,1,peak,0.10000000000000001\n"
            "congestion,dcqcn,100,2,complete,1\n"
            "congestion,dcqcn,100,2,peak,0.29999999999999999\n"
            "congestion,\"a \"\"b\"\", c\",100,1,complete,0\n");
}

TEST(EvaluationData, JsonHasEverything) {
  const auto json = evaluation_json(sample());
  EXPECT_EQ(json["commit"], "abc123");
  EXPECT_EQ(json["quick"], false);
  const auto& point = json["figures"][0]["series"][0]["points"][0];
  EXPECT_EQ(point.dump(), R"({"x":100.0,"mean":0.2,"low":0.05,"high":0.35,"seeds":2})");
  EXPECT_EQ(json["figures"][0]["metric"], "peak");
  EXPECT_EQ(json["claims"][1]["cause"], "<slow>");
  EXPECT_EQ(json["claims"][0]["met"], true);
  EXPECT_EQ(json["choices"].size(), 1u);
  EXPECT_EQ(json["runs"].size(), 3u);
  EXPECT_EQ(json["runs"][1]["values"].dump(), R"({"complete":1.0,"peak":0.3})");
  EXPECT_EQ(json["runs"][1]["seed"], 2);
  EXPECT_EQ(json["runs"][1]["parameters"]["distance"], "100 km");
}

TEST(EvaluationData, TheTerminalShowsClaimsAndCausesOfMisses) {
  std::ostringstream out;
  print_evaluation(out, sample());
  EXPECT_EQ(out.str(),
            "  figure  paper    wanted  ours\n"
            "  ------  -------  ------  -----  ------\n"
            "  3b      20x      >= 20x  21x    met\n"
            "  3c      -62.7 %  more    -50 %  MISSED\n"
            "\nMissed, because:\n"
            "  3c  <slow>\n");
  Evaluation good = sample();
  good.claims.pop_back();
  std::ostringstream all_met;
  print_evaluation(all_met, good);
  EXPECT_EQ(all_met.str().find("because"), std::string::npos);
}

}  // namespace
}  // namespace matchrdma
