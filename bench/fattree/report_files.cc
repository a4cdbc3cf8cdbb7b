// What the report leaves behind: JSON and pictures.
#include <algorithm>

#include "bench/fattree/report.h"
#include "proxy/line_plot.h"

namespace matchrdma::fattree_bench {
namespace {

using nlohmann::ordered_json;

struct Figure {
  const char *name, *axis;
  Estimate Row::*value;
};
constexpr Figure kFigures[]{{"mean_slowdown", "mean slowdown", &Row::mean_slowdown},
                            {"p99_slowdown", "99th percentile of slowdown", &Row::p99_slowdown},
                            {"mean_us", "mean completion time, us", &Row::mean_us},
                            {"p99_us", "99th percentile of completion time, us", &Row::p99_us},
                            {"sender_mean_slowdown", nullptr, &Row::sender_mean_slowdown},
                            {"sender_p99_slowdown", nullptr, &Row::sender_p99_slowdown}};

ordered_json json_of(const Estimate& e) { return {{"mean", e.mean}, {"low", e.low}, {"high", e.high}}; }

ordered_json json_of(const sim::Completions& c) {
  return {{"transfers", c.messages},          {"mean_us", c.mean_us},
          {"median_us", c.median_us},         {"p99_us", c.p99_us},
          {"mean_slowdown", c.mean_slowdown}, {"p99_slowdown", c.p99_slowdown}};
}

ordered_json json_of(const sim::Fct& f) {
  return {{"receiver", json_of(f.receiver)}, {"sender", json_of(f.sender)}, {"unfinished", f.unfinished}};
}

ordered_json json_of(const Outcome& o) {
  const sim::FatTreeResult& r = o.result;
  return {{"sizes", o.run.sizes},       {"scheme", o.run.scheme}, {"load", o.run.what.load},
          {"seed", o.run.what.seed},    {"all", json_of(r.all)},  {"up_to_64_kB", json_of(r.small)},
          {"larger", json_of(r.large)}, {"drops", r.drops},       {"lost", r.lost},
          {"pauses", r.pauses},         {"marks", r.marks},       {"sent_again_bytes", r.sent_again},
          {"suspected", r.suspected},   {"events", r.events}};
}

std::string svg_of(const std::vector<Row>& rows, const std::string& sizes, const Figure& f) {
  LinePlot plot{"Fat tree, all to all, " + sizes, {"load, %"}, {f.axis}, {}};
  for (const sim::Balancing b : sim::kBalancings) {
    // The looks of evaluations: ours is the circle.
    const size_t look = b == sim::Balancing::kFlowcell ? 3 : static_cast<size_t>(b);
    LinePlot::Series s{sim::balancing_name(b), look, {}};
    for (const Row& r : rows) {
      if (r.sizes != sizes || r.scheme != s.name) continue;
      const Estimate& e = r.*f.value;
      s.points.push_back({r.load * 100, e.mean, e.low, e.high});
    }
    plot.series.push_back(std::move(s));
  }
  return line_plot_svg(plot);
}

}  // namespace

ordered_json json_of(const std::vector<Row>& rows, const std::vector<Outcome>& outcomes) {
  ordered_json out{{"rows", ordered_json::array()}, {"runs", ordered_json::array()}};
  for (const Row& r : rows) {
    ordered_json row{{"sizes", r.sizes},
                     {"scheme", r.scheme},
                     {"load", r.load},
                     {"transfers", r.transfers},
                     {"seeds", r.p99_slowdown.seeds}};
    for (const Figure& f : kFigures) row[f.name] = json_of(r.*f.value);
    out["rows"].push_back(std::move(row));
  }
  for (const Outcome& o : outcomes) out["runs"].push_back(json_of(o));
  return out;
}

std::vector<Picture> pictures(const std::vector<Row>& rows) {
  std::vector<Picture> all;
  for (const char* sizes : {kStorage, kSolar})
    for (const Figure& f : kFigures)
      if (f.axis != nullptr)
        all.push_back({std::string(sizes) + "_" + f.name + ".svg", svg_of(rows, sizes, f)});
  return all;
}

}  // namespace matchrdma::fattree_bench
