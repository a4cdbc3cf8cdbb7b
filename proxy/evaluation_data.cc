// The evaluation as CSV, JSON and for the terminal.
#include <array>
#include <cstdio>
#include <ostream>

#include "proxy/evaluation_page.h"
#include "proxy/evaluation_parameters.h"
#include "proxy/table.h"

namespace matchrdma {
namespace {

using Json = nlohmann::ordered_json;

/// Quoted where it must be (RFC 4180, 2.6 and 2.7).
std::string csv_text(const std::string& s) {
  if (s.find_first_of(",\"\r\n") == std::string::npos) return s;
  std::string out = "\"";
  for (const char c : s) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

/// So that reading gives the same value again.
std::string csv_number(double v) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.17g", v);
  return text.data();
}

Json figure_json(const EvaluationFigure& f) {
  Json series = Json::array();
  for (const EvaluationSeries& s : f.series) {
    Json points = Json::array();
    for (const auto& p : s.points)
      points.push_back(
          {{"x", p.x}, {"mean", p.y.mean}, {"low", p.y.low}, {"high", p.y.high}, {"seeds", p.y.seeds}});
    series.push_back({{"name", s.name}, {"points", std::move(points)}});
  }
  return {{"name", f.what.name},     {"title", f.what.title},   {"metric", f.what.metric},
          {"x_axis", f.what.x_axis}, {"y_axis", f.what.y_axis}, {"series", std::move(series)}};
}

Json claim_json(const EvaluationClaim& c) {
  return {{"figure", c.figure}, {"paper", c.paper}, {"wanted", c.wanted},
          {"ours", c.ours},     {"met", c.met},     {"cause", c.cause}};
}

Json run_json(const EvaluationRun& r) {
  Json parameters = Json::object(), values = Json::object();
  for (const auto& [name, value] : evaluation_parameters(r.what)) parameters[name] = value;
  for (const auto& [name, value] : r.values) values[name] = value;
  return {{"figure", r.what.figure},    {"series", r.what.series},      {"x", r.what.x},
          {"seed", r.what.world.seed},  {"cpu_seconds", r.cpu_seconds}, {"parameters", std::move(parameters)},
          {"values", std::move(values)}};
}

}  // namespace

void write_evaluation_csv(std::ostream& out, const Evaluation& e) {
  out << "figure,series,x,seed,metric,value\n";
  for (const EvaluationRun& r : e.runs)
    for (const auto& [name, value] : r.values)
      out << csv_text(r.what.figure) << ',' << csv_text(r.what.series) << ',' << csv_number(r.what.x) << ','
          << r.what.world.seed << ',' << csv_text(name) << ',' << csv_number(value) << '\n';
}

nlohmann::ordered_json evaluation_json(const Evaluation& e) {
  Json figures = Json::array(), claims = Json::array(), runs = Json::array();
  for (const EvaluationFigure& f : e.figures) figures.push_back(figure_json(f));
  for (const EvaluationClaim& c : e.claims) claims.push_back(claim_json(c));
  for (const EvaluationRun& r : e.runs) runs.push_back(run_json(r));
  return {{"commit", e.commit},          {"quick", e.quick},
          {"claims", std::move(claims)}, {"figures", std::move(figures)},
          {"choices", e.choices},        {"runs", std::move(runs)}};
}

void print_evaluation(std::ostream& out, const Evaluation& e) {
  Table claims({{"figure"}, {"paper"}, {"wanted"}, {"ours"}, {""}});
  bool missed = false;
  for (const EvaluationClaim& c : e.claims) {
    claims.add({c.figure, c.paper, c.wanted, c.ours, c.met ? "met" : "MISSED"});
    missed = missed || !c.met;
  }
  claims.print(out);
  if (!missed) return;
  out << "\nMissed, because:\n";
  Table causes({{""}, {""}});
  for (const EvaluationClaim& c : e.claims)
    if (!c.met) causes.add({c.figure, c.cause.empty() ? "cause not known" : c.cause});
  causes.print(out);
}

}  // namespace matchrdma
