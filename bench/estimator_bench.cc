// How good the estimate of the destination is, closed over a fluid model of span and receiver: weighted error,
// utilisation, peak and mean backlog of twelve kinds of capacity at three distances, against the acceptance
// table, the paper's scheme, last value, moving average and an oracle; and what it costs. Exit code 1: a bound
// is missed.
#include <CLI/CLI.hpp>

#include <array>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "bench/estimator/acceptance.h"
#include "bench/estimator/cost.h"
#include "bench/estimator/picture.h"
#include "proxy/json_output.h"
#include "proxy/output_files.h"
#include "proxy/table.h"

namespace matchrdma::estimator_bench {
namespace {

using Json = nlohmann::ordered_json;
using Align = Table::Align;

struct Options {
  uint64_t seeds = 9;
  bool quick = false;
  std::string json, svg;
};

constexpr uint64_t kQuickSeeds = 3;
constexpr Duration kSlot = Duration::micros(200);
const std::vector<ContenderKind> kAll{ContenderKind::kEarned, ContenderKind::kPaper, ContenderKind::kLastValue,
                                      ContenderKind::kMovingAverage, ContenderKind::kOracle};

std::string fixed(double v, int digits) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, v);
  return text.data();
}

Json to_json(const Figures& f) {
  return {{"weighted_error_percent", f.error},
          {"utilisation_percent", f.utilisation},
          {"peak_backlog_mb", f.peak_mb},
          {"mean_backlog_mb", f.mean_mb}};
}

std::string compact(const Figures& f) {
  return fixed(f.error, 1) + " / " + fixed(f.utilisation, 1) + " / " + fixed(f.peak_mb, 1) + " / " +
         fixed(f.mean_mb, 2);
}

/// Duty: runs every cell and gathers its lines for people and for machines.
class Report {
 public:
  Report()
      : bounds_({{"capacity"},
                 {"D", Align::kRight},
                 {"error %", Align::kRight},
                 {"<=", Align::kRight},
                 {"util %", Align::kRight},
                 {">=", Align::kRight},
                 {"peak MB", Align::kRight},
                 {"<=", Align::kRight},
                 {"paper's B", Align::kRight},
                 {"mean MB", Align::kRight},
                 {"<=", Align::kRight},
                 {"verdict"}}),
        others_(headings()) {}

  void cell(size_t row, size_t delay, const std::vector<ContenderKind>& kinds, uint64_t seeds) {
    const std::vector<Cell> cells = run_cell(rows()[row], kDelays[delay], kSlot, seeds, kinds);
    const Figures& need = required(row, delay);
    const Cell& ours = cells.front();
    const std::string said = verdict(ours, need);
    missed_ += said == "ok" ? 0 : 1;
    const std::string d = duration_text(kDelays[delay].ns);
    const bool scored = need.error >= 0;
    bounds_.add({rows()[row].name, d, scored ? fixed(ours.got.error, 2) : "-",
                 scored ? fixed(need.error, 1) : "-", fixed(ours.got.utilisation, 2),
                 fixed(need.utilisation, 1), fixed(ours.got.peak_mb, 2), fixed(need.peak_mb, 1),
                 fixed(ours.bound_mb, 2), fixed(ours.got.mean_mb, 3), fixed(need.mean_mb, 1), said});
    std::vector<std::string> line{rows()[row].name, d};
    Json contenders = Json::object();
    for (size_t k = 0; k < kinds.size(); ++k) {
      line.push_back(compact(cells[k].got));
      contenders[name_of(kinds[k])] = to_json(cells[k].got);
      if (!cells[k].broken.empty()) broken_ = cells[k].broken;
    }
    if (kinds.size() == kAll.size()) others_.add(line);
    json_["cells"].push_back({{"capacity", rows()[row].name},
                              {"one_way_ns", kDelays[delay].ns},
                              {"required", to_json(need)},
                              {"paper_bound_mb", ours.bound_mb},
                              {"runs", ours.runs},
                              {"verdict", said},
                              {"contenders", contenders}});
  }

  void cost() {
    Table t({{"cost"}, {"got", Align::kRight}, {"<=", Align::kRight}, {""}, {"verdict"}});
    for (const CostRow& r : measure_cost()) {
      t.add({r.what, fixed(r.got, r.got < 10 ? 2 : 0), fixed(r.allowed, 0), r.unit, r.ok() ? "ok" : "MISSED"});
      missed_ += r.ok() ? 0 : 1;
      json_["cost"].push_back({{"what", r.what}, {"got", r.got}, {"allowed", r.allowed}, {"unit", r.unit}});
    }
    cost_ = t;
  }

  void print(std::ostream& out) const {
    bounds_.print(out);
    if (!others_.empty()) {
      out << "\nerror % / utilisation % / peak / mean backlog MB, all with the same steps from forecast to "
             "budget\n\n";
      others_.print(out);
    }
    out << '\n';
    cost_.print(out);
    if (!broken_.empty()) out << "\nBROKEN: " << broken_ << '\n';
    out << '\n'
        << (missed_ == 0 && broken_.empty() ? "every bound is kept" : std::to_string(missed_) + " cells missed")
        << '\n';
  }
  const Json& json() const { return json_; }
  bool good() const { return missed_ == 0 && broken_.empty(); }

 private:
  static std::vector<Table::Column> headings() {
    std::vector<Table::Column> c{{"capacity"}, {"D", Align::kRight}};
    for (const ContenderKind k : kAll) c.push_back({name_of(k), Align::kRight});
    return c;
  }
  Table bounds_, others_;
  Table cost_{{{""}}};
  Json json_ = {{"bench", "estimator"}, {"cells", Json::array()}, {"cost", Json::array()}};
  std::string broken_;
  int missed_ = 0;
};

/// Three runs that show what the estimator does, 1.2 s each.
Result<void> draw(const std::string& path) {
  struct Choice {
    size_t row, delay;
    double from_ms;
  };
  constexpr std::array<Choice, 4> kChosen{{{3, 2, 3000}, {4, 1, 3000}, {6, 2, 4500}, {1, 2, 2700}}};
  std::vector<Panel> panels;
  for (const Choice& c : kChosen) {
    const Duration d = kDelays[c.delay];
    const Row& row = rows()[c.row];
    const std::vector<Series> series = row.make(1);
    const std::unique_ptr<Contender> ours = make_contender(ContenderKind::kEarned, kSlot, d);
    std::vector<LoopSlot> all, shown;
    run_loop(series.front(), {.slot = kSlot, .one_way = d}, *ours, &all);
    for (const LoopSlot& s : all) {
      if (s.ms >= c.from_ms && s.ms < c.from_ms + (c.row == 1 ? 2400 : 600)) shown.push_back(s);
    }
    panels.push_back({row.name + ", D = " + duration_text(d.ns), shown});
  }
  return write_picture(panels, path);
}

int bench(const Options& o) {
  if (auto r = check_writable({{"--json", o.json}, {"--svg", o.svg}}); !r) {
    std::cerr << "estimator_bench: " << r.error() << '\n';
    return 1;
  }
  Report report;
  const auto kinds = o.quick ? std::vector{ContenderKind::kEarned} : kAll;
  for (size_t delay = 0; delay < kDelays.size(); ++delay) {
    for (size_t row = 0; row < rows().size(); ++row) {
      report.cell(row, delay, kinds, o.seeds);
      std::cerr << '.' << std::flush;
    }
  }
  report.cost();
  std::cerr << '\n';
  if (o.json != "-") report.print(std::cout);
  Result<void> written;
  if (!o.json.empty()) written = write_json(report.json(), o.json);
  if (written && !o.svg.empty()) written = draw(o.svg);
  if (!written) {
    std::cerr << "estimator_bench: " << written.error() << '\n';
    return 1;
  }
  return report.good() ? 0 : 1;
}

}  // namespace
}  // namespace matchrdma::estimator_bench

int main(int argc, char** argv) {
  matchrdma::estimator_bench::Options o;
  CLI::App app{"quality and cost of the destination's rate estimate"};
  auto* seeds = app.add_option("--seeds", o.seeds, "Seeds per cell (9)")->check(CLI::Range(1, 1000));
  app.add_flag("--quick", o.quick, "Three seeds, without the schemes it is compared to");
  app.add_option("--json", o.json,
                 "Also write the figures as JSON to this file; - is stdout, without the tables");
  app.add_option("--svg", o.svg, "Also draw four runs into this file");
  CLI11_PARSE(app, argc, argv);
  if (o.quick && seeds->count() == 0) o.seeds = matchrdma::estimator_bench::kQuickSeeds;
  return matchrdma::estimator_bench::bench(o);
}
