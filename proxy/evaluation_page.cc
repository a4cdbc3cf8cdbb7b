#include "proxy/evaluation_page.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "proxy/evaluation_parameters.h"
#include "proxy/line_plot.h"
#include "proxy/svg.h"
#include "proxy/table.h"

namespace matchrdma {
namespace {

constexpr const char* kHead =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
    "<title>Evaluation of matchrdma</title>\n<style>\n"
    ":root { color-scheme: light dark; --paper: #ffffff; --ink: #222222; --faint: #666666; --rule: #dddddd;\n"
    "  --met: #00704d; --missed: #b3261e; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  :root { --paper: #16181b; --ink: #e4e4e4; --faint: #a8a8a8; --rule: #3a3d42; --met: #4fc39a;\n"
    "    --missed: #ff8a80; }\n"
    "}\n"
    "body { font-family: sans-serif; line-height: 1.4; margin: 24px auto; padding: 0 20px; max-width: 1320px;\n"
    "  background: var(--paper); color: var(--ink); }\n"
    "h2 { margin-top: 36px; }\n"
    ".facts, figcaption, .unit { color: var(--faint); }\n"
    ".wide { overflow-x: auto; }\n"
    "table { border-collapse: collapse; margin: 8px 0 16px; font-variant-numeric: tabular-nums; }\n"
    "th, td { padding: 4px 12px; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; "
    "}\n"
    ".numbers th, .numbers td { text-align: right; white-space: nowrap; }\n"
    ".met { color: var(--met); font-weight: bold; }\n"
    ".missed { color: var(--missed); font-weight: bold; }\n"
    ".figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 520px), 1fr)); gap: "
    "28px; }\n"
    "figure { margin: 0; min-width: 0; }\n"
    "svg { max-width: 100%; height: auto; }\n"
    "summary { cursor: pointer; }\nsummary:not(.missed) { color: var(--faint); }\n"
    "svg .paper, svg .hollow { fill: var(--paper); }\nsvg .ink { fill: var(--ink); }\n"
    "svg .faint { fill: var(--faint); }\nsvg .grid { stroke: var(--rule); }\nsvg .frame { stroke: "
    "var(--faint); }\n"
    "</style>\n</head>\n<body>\n<h1>Evaluation of matchrdma</h1>\n";

std::string element(const char* name, const std::string& text, const char* css = "") {
  const std::string of_class = *css == '\0' ? "" : std::string(" class=\"") + css + "\"";
  return std::string("<") + name + of_class + ">" + xml_text(text) + "</" + name + ">";
}
std::string row(const char* cell, const std::vector<std::string>& texts) {
  std::string out = "<tr>";
  for (const std::string& t : texts) out += element(cell, t);
  return out + "</tr>\n";
}
std::string joined(const std::vector<std::string>& texts, const char* between) {
  std::string out;
  for (const std::string& t : texts) out += (out.empty() ? "" : between) + t;
  return out;
}

std::string short_number(double v) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", v);
  return text.data();
}

/// Of a case, whatever its seed.
std::string where(const sim::Case& c) { return c.figure + ", " + c.series + ", x = " + axis_number(c.x); }

bool complete(const EvaluationRun& r) {
  return std::find(r.values.begin(), r.values.end(), std::pair<std::string, double>("complete", 0)) ==
         r.values.end();
}

std::string facts(const Evaluation& e) {
  std::set<uint64_t> seeds;
  double cpu = 0;
  std::vector<std::string> broken;
  for (const EvaluationRun& r : e.runs) {
    seeds.insert(r.what.world.seed);
    cpu += r.cpu_seconds;
    if (!complete(r)) broken.push_back(where(r.what) + ", seed " + std::to_string(r.what.world.seed));
  }
  std::vector<std::string> names;
  for (const uint64_t s : seeds) names.push_back(std::to_string(s));
  const std::string plan = e.quick ? "quick: fewer points and seeds than the full evaluation" : "full";
  std::string out =
      element("p",
              "Commit " + e.commit + "; " + plan + "; " + thousands(e.runs.size()) +
                  " runs; seeds: " + joined(names, ", ") + "; CPU time " + short_number(cpu / 60) + " min.",
              "facts") +
      "\n";
  if (broken.empty()) return out;
  out += "<details><summary class=\"missed\">Runs that did not come to their end: " +
         std::to_string(broken.size()) + "</summary>\n<ul>\n";
  for (const std::string& b : broken) out += element("li", b) + "\n";
  return out + "</ul></details>\n";
}

std::string claims(const Evaluation& e) {
  std::string out = "<h2>What the paper claims, and what was reached</h2>\n";
  if (e.claims.empty()) return out + "<p>None was tested.</p>\n";
  out +=
      "<div class=\"wide\"><table class=\"claims\">\n" + row("th", {"figure", "paper", "wanted", "ours", ""});
  for (const EvaluationClaim& c : e.claims) {
    out += "<tr>";
    for (const std::string* t : {&c.figure, &c.paper, &c.wanted, &c.ours}) out += element("td", *t);
    const std::string cause = c.cause.empty() ? "cause not known" : c.cause;
    out += c.met ? element("td", "met", "met")
                 : "<td>" + element("span", "MISSED", "missed") + xml_text(": " + cause) + "</td>";
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

/// A scheme looks the same in all figures; what else there is takes what this figure leaves.
std::vector<size_t> looks(const EvaluationFigure& f) {
  constexpr size_t kSchemes = std::size(sim::kLongHauls);
  const auto scheme = [](const std::string& name) {
    return static_cast<size_t>(std::find_if(std::begin(sim::kLongHauls), std::end(sim::kLongHauls),
                                            [&](sim::LongHaul s) { return name == scheme_name(s); }) -
                               std::begin(sim::kLongHauls));
  };
  std::set<size_t> taken;
  for (const EvaluationSeries& s : f.series)
    if (scheme(s.name) < kSchemes) taken.insert(scheme(s.name));
  std::vector<size_t> out;
  size_t next = 0;
  for (const EvaluationSeries& s : f.series) {
    const size_t own = scheme(s.name);
    while (own == kSchemes && taken.count(next) > 0) ++next;
    out.push_back(own < kSchemes ? own : next++);
  }
  return out;
}

std::string picture(const EvaluationFigure& f) {
  LinePlot plot{f.what.title, {f.what.x_axis, f.what.x_logarithmic}, {f.what.y_axis, f.what.y_logarithmic}, {}};
  const std::vector<size_t> look = looks(f);
  for (size_t i = 0; i < f.series.size(); ++i) {
    LinePlot::Series s{f.series[i].name, look[i], {}};
    for (const auto& p : f.series[i].points) s.points.push_back({p.x, p.y.mean, p.y.low, p.y.high});
    plot.series.push_back(std::move(s));
  }
  return line_plot_svg(plot);
}

std::string estimate_text(const Estimate& y) {
  if (y.low == y.high) return short_number(y.mean);
  return short_number(y.mean) + " (" + short_number(y.low) + " to " + short_number(y.high) + ")";
}

std::string data_table(const EvaluationFigure& f) {
  std::map<double, std::map<size_t, std::string>> cells;  // by x and number of the series
  std::vector<std::string> heads{f.what.x_axis};
  for (size_t i = 0; i < f.series.size(); ++i) {
    heads.push_back(f.series[i].name);
    for (const auto& p : f.series[i].points) cells[p.x][i] = estimate_text(p.y);
  }
  std::string out = "<details><summary>Data: " + xml_text(f.what.y_axis) +
                    "</summary>\n<div class=\"wide\"><table class=\"numbers\">\n" + row("th", heads);
  for (const auto& [x, of_series] : cells) {
    std::vector<std::string> texts{axis_number(x)};
    for (size_t i = 0; i < f.series.size(); ++i)
      texts.push_back(of_series.count(i) > 0 ? of_series.at(i) : "-");
    out += row("td", texts);
  }
  return out + "</table></div></details>\n";
}

std::string caption(const EvaluationFigure& f) {
  std::set<size_t> seeds;
  for (const EvaluationSeries& s : f.series)
    for (const auto& p : s.points) seeds.insert(p.y.seeds);
  if (seeds.empty()) return "No run gave this value.";
  const std::string of = "Runs \"" + f.what.name + "\", value " + f.what.metric + "; ";
  if (*seeds.rbegin() == 1) return of + "one seed, so without intervals.";
  const std::string range = *seeds.begin() == *seeds.rbegin()
                                ? std::to_string(*seeds.begin())
                                : std::to_string(*seeds.begin()) + " to " + std::to_string(*seeds.rbegin());
  return of + "means over " + range + " seeds, bars: 95 % confidence. Points of one x stand side by side.";
}

std::string figures(const Evaluation& e) {
  std::string out = "<h2>Figures</h2>\n<div class=\"figures\">\n";
  for (const EvaluationFigure& f : e.figures)
    out += "<figure>\n" + picture(f) + element("figcaption", caption(f)) + "\n" + data_table(f) + "</figure>\n";
  return out + "</div>\n";
}

std::string choices(const Evaluation& e) {
  std::string out = "<h2>What the paper leaves open, and what was chosen</h2>\n";
  if (e.choices.empty()) return out + "<p>Nothing was noted.</p>\n";
  out += "<ul>\n";
  for (const std::string& c : e.choices) out += element("li", c) + "\n";
  return out + "</ul>\n";
}

/// Numbers by their value, then letters.
struct ByNumber {
  bool operator()(const std::string& a, const std::string& b) const {
    const double x = std::strtod(a.c_str(), nullptr), y = std::strtod(b.c_str(), nullptr);
    return x != y ? x < y : a < b;
  }
};

std::string parameters(const Evaluation& e) {
  std::vector<std::string> order;
  std::map<std::string, std::set<std::string, ByNumber>> values;
  for (const EvaluationRun& r : e.runs)
    for (const auto& [name, value] : evaluation_parameters(r.what)) {
      if (values[name].empty()) order.push_back(name);
      values[name].insert(value);
    }
  std::string out = "<h2>Parameters</h2>\n<div class=\"wide\"><table class=\"parameters\">\n" +
                    row("th", {"parameter", "value, or all that runs have"});
  for (const std::string& name : order)
    out += row("td", {name, joined({values[name].begin(), values[name].end()}, "; ")});
  out +=
      "</table></div>\n<details><summary>What differs between runs</summary>\n<div class=\"wide\"><table>\n" +
      row("th", {"runs", "seeds", "parameters"});
  using Key = std::tuple<std::string, std::string, double>;
  struct Group {
    size_t seeds = 0;
    std::string name, settings;
  };
  std::map<Key, Group> groups;
  for (const EvaluationRun& r : e.runs) {
    Group& g = groups[{r.what.figure, r.what.series, r.what.x}];
    if (++g.seeds > 1) continue;
    g.name = where(r.what);
    for (const auto& [name, value] : evaluation_parameters(r.what))
      if (name != "seed" && values[name].size() > 1)
        g.settings += (g.settings.empty() ? "" : "; ") + name + " " + value;
  }
  for (const auto& [key, g] : groups) out += row("td", {g.name, std::to_string(g.seeds), g.settings});
  return out + "</table></div></details>\n";
}

}  // namespace

std::string evaluation_html(const Evaluation& e) {
  return kHead + facts(e) + claims(e) + figures(e) + choices(e) + parameters(e) + "</body>\n</html>\n";
}

}  // namespace matchrdma
