// matchrdma sim evaluate: everything of the paper's figure 3 and beyond, as data and as one page.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

#include "config/units.h"
#include "proxy/commands.h"
#include "proxy/evaluation.h"
#include "proxy/evaluation_page.h"
#include "proxy/json_output.h"
#include "proxy/output_files.h"
#include "proxy/progress.h"

namespace matchrdma {
namespace {

struct EvaluateArguments {
  std::string output = "evaluation", commit = "unknown", jobs;
  bool quick = false;
};

void write_all(const std::filesystem::path& folder, const Evaluation& e) {
  const auto file = [&](const char* name) { return (folder / name).string(); };
  if (auto r = write_json(evaluation_json(e), file("evaluation.json")); !r) stop(r.error());
  if (auto r = write_file(file("evaluation.csv"), [&](std::ostream& out) { write_evaluation_csv(out, e); }); !r)
    stop(r.error());
  if (auto r = write_file(file("evaluation.html"), [&](std::ostream& out) { out << evaluation_html(e); }); !r)
    stop(r.error());
}

void run_evaluate(const EvaluateArguments& a) {
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  if (!a.jobs.empty())
    jobs = static_cast<unsigned>(
        or_stop(parse_whole("--jobs", a.jobs, 1, 1024, "choose a whole number from 1 to 1024")));
  std::error_code error;
  std::filesystem::create_directories(a.output, error);
  if (error) stop("--output " + a.output + ": cannot be made: " + error.message() + "; name another folder");
  for (const char* name : {"evaluation.json", "evaluation.csv", "evaluation.html"})
    if (auto r = check_writable({{"--output", (std::filesystem::path(a.output) / name).string()}}); !r)
      stop(r.error());
  const sim::Plan plan = sim::evaluation_plan(a.quick);
  Progress bar("simulating", plan.cases.size(), 1);
  std::vector<EvaluationRun> runs = run_plan(plan, jobs, [&](size_t done, size_t) { bar.update(done); });
  bar.finish();
  const Evaluation e = evaluation_of(plan, std::move(runs), a.quick, a.commit);
  write_all(a.output, e);
  print_evaluation(std::cout, e);
  std::cout << "\nwritten: " << (std::filesystem::path(a.output) / "evaluation.html").string()
            << " (.json, .csv)\n";
  if (!std::cout.flush()) stop("(stdout): write failed; the report is incomplete");
}

}  // namespace

void add_sim_evaluate_command(CLI::App& sim) {
  CLI::App* c = sim.add_subcommand("evaluate", "Simulate all figures of the evaluation; write data and a page");
  auto a = std::make_shared<EvaluateArguments>();
  c->add_option("--output", a->output, "Folder for evaluation.html, .json and .csv (evaluation)");
  c->add_flag("--quick", a->quick, "One seed and fewer points: minutes instead of an hour");
  c->add_option("--jobs", a->jobs, "Runs at one time (one a core)");
  c->add_option("--commit", a->commit, "What the page says about the program");
  c->callback([a] { run_evaluate(*a); });
}

}  // namespace matchrdma
