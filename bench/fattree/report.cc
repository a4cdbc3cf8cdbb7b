#include "bench/fattree/report.h"

#include <algorithm>
#include <ostream>

#include "proxy/table.h"

namespace matchrdma::fattree_bench {
namespace {

const Row* find(const std::vector<Row>& rows, const std::string& sizes, const std::string& scheme) {
  const auto r = std::find_if(rows.begin(), rows.end(), [&](const Row& x) {
    return x.sizes == sizes && x.scheme == scheme && x.load == kHighest;
  });
  return r == rows.end() ? nullptr : &*r;
}

std::string with_range(const Estimate& e, int digits) {
  const std::string mean = decimal(e.mean, digits);
  return e.seeds < 2 ? mean : mean + " ± " + decimal(e.high - e.mean, digits);
}

std::string change(double from, double to) {
  const double percent = (to / from - 1) * 100;
  return (percent >= 0 ? "+" : "") + decimal(percent, 1) + " %";
}

/// Collects one value of all seeds.
struct Column {
  std::vector<double> values;
  void add(double v) { values.push_back(v); }
};

Row row_of(const std::vector<const Outcome*>& seeds) {
  const Run& run = seeds.front()->run;
  Row row{.sizes = run.sizes, .scheme = run.scheme, .main = run.main, .load = run.what.load};
  Column mean_us, p99_us, mean, p99, sender_mean, sender_p99;
  for (const Outcome* o : seeds) {
    const sim::Fct& all = o->result.all;
    row.transfers += all.receiver.messages;
    row.unfinished += all.unfinished;
    mean_us.add(all.receiver.mean_us);
    p99_us.add(all.receiver.p99_us);
    mean.add(all.receiver.mean_slowdown);
    p99.add(all.receiver.p99_slowdown);
    sender_mean.add(all.sender.mean_slowdown);
    sender_p99.add(all.sender.p99_slowdown);
  }
  row.mean_us = estimate(mean_us.values);
  row.p99_us = estimate(p99_us.values);
  row.mean_slowdown = estimate(mean.values);
  row.p99_slowdown = estimate(p99.values);
  row.sender_mean_slowdown = estimate(sender_mean.values);
  row.sender_p99_slowdown = estimate(sender_p99.values);
  return row;
}

void print_some(std::ostream& out, const std::vector<Row>& rows, bool main) {
  using Align = Table::Align;
  Table t({{"sizes"},
           {"load", Align::kRight},
           {"scheme"},
           {"transfers", Align::kRight},
           {"mean us", Align::kRight},
           {"p99 us", Align::kRight},
           {"mean slowdown", Align::kRight},
           {"p99 slowdown", Align::kRight},
           {"p99 at the sender", Align::kRight}});
  for (const Row& r : rows) {
    if (r.main != main) continue;
    t.add({r.sizes, decimal(r.load * 100, 0) + " %", r.scheme,
           thousands(r.transfers) + (r.unfinished > 0 ? " (" + thousands(r.unfinished) + " unfinished)" : ""),
           with_range(r.mean_us, 1), with_range(r.p99_us, 0), with_range(r.mean_slowdown, 2),
           with_range(r.p99_slowdown, 1), with_range(r.sender_p99_slowdown, 1)});
  }
  if (!t.empty()) t.print(out);
}

}  // namespace

std::vector<Row> rows_of(const std::vector<Outcome>& outcomes) {
  std::vector<std::vector<const Outcome*>> groups;
  for (const Outcome& o : outcomes) {
    const auto same = [&](const std::vector<const Outcome*>& g) {
      const Run& r = g.front()->run;
      return r.sizes == o.run.sizes && r.scheme == o.run.scheme && r.what.load == o.run.what.load;
    };
    const auto g = std::find_if(groups.begin(), groups.end(), same);
    if (g == groups.end()) {
      groups.push_back({&o});
    } else {
      g->push_back(&o);
    }
  }
  std::vector<Row> rows;
  for (const auto& g : groups) rows.push_back(row_of(g));
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.sizes != b.sizes ? a.sizes < b.sizes : a.load < b.load;
  });
  return rows;
}

void print(std::ostream& out, const std::vector<Row>& rows) {
  print_some(out, rows, true);
  if (std::all_of(rows.begin(), rows.end(), [](const Row& r) { return r.main; })) return;
  out << "\nThe same with one thing changed\n\n";
  print_some(out, rows, false);
}

bool print_claims(std::ostream& out, const std::vector<Row>& rows) {
  struct Claim {
    const char *sizes, *against, *paper_p99, *paper_mean;
  };
  // RDMACell, figure 5 and its text; "-": the text has no figure.
  constexpr Claim kClaims[]{{kStorage, "ecmp", "-44.4 %", "-"},
                            {kStorage, "letflow", "-42.2 %", "-"},
                            {kSolar, "ecmp", "-6.5 %", "-6.8 %"},
                            {kSolar, "letflow", "-", "-"}};
  using Align = Table::Align;
  Table t({{"sizes"},
           {"flowcell against"},
           {"p99 slowdown", Align::kRight},
           {"paper", Align::kRight},
           {"p99 us", Align::kRight},
           {"mean slowdown", Align::kRight},
           {"paper", Align::kRight}});
  for (const Claim& c : kClaims) {
    const Row *ours = find(rows, c.sizes, "flowcell"), *other = find(rows, c.sizes, c.against);
    if (ours == nullptr || other == nullptr) continue;
    t.add({c.sizes, c.against, change(other->p99_slowdown.mean, ours->p99_slowdown.mean), c.paper_p99,
           change(other->p99_us.mean, ours->p99_us.mean),
           change(other->mean_slowdown.mean, ours->mean_slowdown.mean), c.paper_mean});
  }
  out << "\nAt " << decimal(kHighest * 100, 0) << " % load\n\n";
  t.print(out);
  const Row *ecmp = find(rows, kStorage, "ecmp"), *letflow = find(rows, kStorage, "letflow"),
            *ours = find(rows, kStorage, "flowcell");
  if (ecmp == nullptr || letflow == nullptr || ours == nullptr) return false;
  // "About": within what seeds differ by.
  const double spread = std::max(ecmp->p99_slowdown.high, letflow->p99_slowdown.high) -
                        std::max(ecmp->p99_slowdown.mean, letflow->p99_slowdown.mean);
  const bool ahead = ours->p99_slowdown.mean < std::min(letflow->p99_slowdown.mean, ecmp->p99_slowdown.mean);
  const bool about =
      letflow->p99_slowdown.mean <= ecmp->p99_slowdown.mean + std::max(spread, 0.1 * ecmp->p99_slowdown.mean);
  out << "\nflowcell ahead of both: " << (ahead ? "yes" : "MISSED")
      << "; LetFlow about ECMP or better: " << (about ? "yes" : "MISSED") << '\n';
  return ahead && about;
}

}  // namespace matchrdma::fattree_bench
