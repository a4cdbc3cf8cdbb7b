// ECMP, LetFlow and flowcell in the fat tree of RDMACell's evaluation: completion times against load. Exit code
// 1: the paper's ordering at 80 % load did not come out.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <thread>

#include "bench/fattree/report.h"
#include "proxy/json_output.h"
#include "proxy/output_files.h"
#include "proxy/parallel.h"
#include "proxy/progress.h"
#include "proxy/table.h"

namespace matchrdma::fattree_bench {
namespace {

struct Options {
  Scope scope{};
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  std::string json, output = "build/fattree";
};

/// Duty: one bar for all runs, in transfers that have begun.
class Together {
 public:
  explicit Together(const std::vector<Run>& runs) : bar_("simulating", total(runs), 1) {}
  void add(size_t begun) {
    const std::lock_guard lock(telling_);
    bar_.update(begun_ += begun);
  }

 private:
  static uint64_t total(const std::vector<Run>& runs) {
    double all = 0;
    for (const Run& r : runs) all += sim::expected_transfers(r.what);
    return static_cast<uint64_t>(all);
  }
  Progress bar_;
  std::mutex telling_;
  uint64_t begun_ = 0;
};

std::vector<Outcome> simulate(const Options& o) {
  const std::vector<Run> runs = plan(o.scope);
  std::vector<Outcome> outcomes(runs.size());
  Together together(runs);
  in_parallel(runs.size(), o.jobs, [&](size_t i) {
    size_t last = 0;
    outcomes[i] = {runs[i], sim::run_fat_tree(runs[i].what, [&](size_t begun) {
                     together.add(begun - last);
                     last = begun;
                   })};
  });
  return outcomes;
}

Result<void> write(const Options& o, const std::vector<Row>& rows, const std::vector<Outcome>& outcomes) {
  std::error_code error;
  std::filesystem::create_directories(o.output, error);
  if (error)
    return Error{"--output " + o.output + ": cannot be made: " + error.message() + "; name another folder"};
  for (const Picture& p : pictures(rows)) {
    const std::string path = (std::filesystem::path(o.output) / p.file).string();
    if (auto r = write_file(path, [&](std::ostream& out) { out << p.svg; }); !r) return r;
  }
  return o.json.empty() ? Result<void>{} : write_json(json_of(rows, outcomes), o.json);
}

int run(const Options& o) {
  if (auto r = check_writable({{"--json", o.json}}); !r) {
    std::cerr << "fattree_bench: " << r.error() << '\n';
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Outcome> outcomes = simulate(o);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const std::vector<Row> rows = rows_of(outcomes);
  const sim::FatTreeCase& any = outcomes.front().run.what;
  std::cout << "K = 8, 128 hosts, 100 Gb/s, 1 us a hop, 2 MB a port, all to all; arrivals of "
            << decimal(any.duration.us() / 1000, 1) << " ms, the first " << decimal(any.warm_up.us() / 1000, 1)
            << " ms not counted;\nat the receiver, " << rows.front().p99_us.seeds
            << " seeds, 95 % confidence; slowdown: over the time in an empty network\n\n";
  print(std::cout, rows);
  const bool met = print_claims(std::cout, rows);
  if (auto r = write(o, rows, outcomes); !r) {
    std::cerr << "fattree_bench: " << r.error() << '\n';
    return 2;
  }
  std::cout << "\npictures: " << o.output << "/*.svg; took " << decimal(took.count() / 60, 1) << " min on "
            << o.jobs << " threads\n";
  return met || o.scope.quick ? 0 : 1;  // one seed proves nothing
}

}  // namespace
}  // namespace matchrdma::fattree_bench

int main(int argc, char** argv) {
  matchrdma::fattree_bench::Options o;
  CLI::App app{"ECMP, LetFlow and flowcell in a fat tree"};
  app.add_flag("--quick", o.scope.quick, "One seed and short runs: a minute; tails are rough");
  app.add_option("--seeds", o.scope.seeds, "of each point")->check(CLI::Range(1, 100))->capture_default_str();
  app.add_option("--jobs", o.jobs, "runs at one time (one a core)")->check(CLI::Range(1, 1024));
  app.add_option("--json", o.json, "FILE or -");
  app.add_option("--output", o.output, "folder for the pictures")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return matchrdma::fattree_bench::run(o);
}
