// matchrdma sim: the paper's network in virtual time, with the daemon's own core at the ends of the long link.
#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>

#include "config/units.h"
#include "proxy/commands.h"
#include "proxy/json_output.h"
#include "proxy/output_files.h"
#include "proxy/progress.h"
#include "proxy/sim_report.h"
#include "proxy/sim_workload.h"

namespace matchrdma {
namespace {

/// What was typed.
struct SimArguments {
  SimWorkloadArguments workload;
  std::string schemes = "dcqcn,matchrdma", distance = "100", loss = "0", otn_buffer, duration, mtu = "4096",
              completion = "early", estimator = "earned", seed = "1", json;
  bool no_gate = false, no_cnp_proxy = false;
  /// Options that say something about one kind of workload, or about matchrdma alone.
  std::vector<std::pair<std::string, const CLI::Option*>> of_workload;
  std::vector<const CLI::Option*> of_proxies;
};

/// Virtual time that a workload which ends by itself may take.
constexpr sim::SimSpan kPatience = sim::SimSpan::micros(60'000'000);

/// What is meant.
struct SimPlan {
  std::vector<sim::LongHaul> schemes;
  sim::WorldSettings world;
  sim::Window window;
  SimWorkload load;
};

std::vector<sim::LongHaul> parse_schemes(const std::string& text) {
  if (text == "all") return {std::begin(sim::kLongHauls), std::end(sim::kLongHauls)};
  std::vector<sim::LongHaul> out;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const auto* found = std::find_if(std::begin(sim::kLongHauls), std::end(sim::kLongHauls),
                                     [&](sim::LongHaul s) { return word == sim::scheme_name(s); });
    if (found == std::end(sim::kLongHauls))
      stop("--scheme " + text +
               ": no such scheme; choose of dcqcn, pseudo-ack, themis and matchrdma, with commas between them, "
               "or all",
           kUsage);
    if (std::find(out.begin(), out.end(), *found) == out.end()) out.push_back(*found);
  }
  if (out.empty()) stop("--scheme: name at least one, like matchrdma", kUsage);
  return out;
}

void parse_proxy(const SimArguments& a, sim::ProxySettings& p) {
  p.gate = !a.no_gate;
  p.cnp_proxy = !a.no_cnp_proxy;
  if (a.completion == "end-to-end") {
    p.completion = Completion::kEndToEnd;
  } else if (a.completion != "early") {
    stop("--completion " + a.completion + ": no such policy; choose early or end-to-end", kUsage);
  }
  p.estimator.reset();
  for (const Scheme s : {Scheme::kEarned, Scheme::kPaper, Scheme::kLast})
    if (a.estimator == scheme_word(s)) p.estimator = s;
  if (!p.estimator && a.estimator != "fixed")
    stop("--estimator " + a.estimator + ": no such estimator; choose fixed, earned, paper or last", kUsage);
}

SimPlan plan_of(const SimArguments& a) {
  SimPlan p;
  p.schemes = parse_schemes(a.schemes);
  const double km = or_stop(parse_distance("--distance", a.distance));
  if (km < 1) stop("--distance " + a.distance + ": the long link is 1 km at least", kUsage);
  p.world.topology.km = static_cast<int64_t>(km + 0.5);
  p.world.mtu = static_cast<uint32_t>(
      or_stop(parse_whole("--mtu", a.mtu, 256, 4096, "choose 256, 512, 1024, 2048 or 4096")));
  if (!legal_path_mtu(p.world.mtu)) stop("--mtu " + a.mtu + ": choose 256, 512, 1024, 2048 or 4096", kUsage);
  if (!a.otn_buffer.empty())
    p.world.otn_buffer_bytes =
        static_cast<int64_t>(or_stop(parse_bytes_between("--otn-buffer", a.otn_buffer, 1 << 20, 1ull << 40)));
  p.world.seed = or_stop(parse_seed("--seed", a.seed));
  parse_proxy(a, p.world.proxy);
  p.world.topology.loss = or_stop(parse_probability("--loss", a.loss));
  p.load = parse_sim_workload(a.workload, p.world.seed);
  p.window = sim::Window::steady(p.world.topology.km);
  if (!a.duration.empty()) {
    const Duration d =
        or_stop(parse_duration_between("--duration", a.duration, Duration::micros(100), Duration::seconds(10)));
    p.window.length = sim::SimSpan::nanos(d.ns);
  }
  if (p.load.ends) p.window = {.length = a.duration.empty() ? kPatience : p.window.length, .to_the_end = true};
  return p;
}

SimRun run_one(const SimPlan& plan, sim::LongHaul scheme) {
  SimRun r;
  r.settings = plan.world;
  r.settings.scheme = scheme;
  r.ends = plan.load.ends;
  sim::World world(r.settings);
  const std::unique_ptr<sim::Workload> load = plan.load.make(world);
  constexpr double kMicros = 1e6;
  Progress bar(std::string("simulating ") + sim::scheme_name(scheme) + ", us",
               static_cast<uint64_t>((plan.window.warm_up + plan.window.length).us()), 1);
  const bool up = sim::run(world, *load, plan.window, r.metrics,
                           [&](double done, double) { bar.update(static_cast<uint64_t>(done * kMicros)); });
  bar.finish();
  if (!up)
    stop(
        "--scheme matchrdma: the proxies did not agree on a session and on their queue pairs in a second and "
        "40 trips over the long link; choose a smaller --loss");
  r.messages.assign(load->messages().begin() + static_cast<std::ptrdiff_t>(r.metrics.first_message),
                    load->messages().end());
  return r;
}

void add_workload_options(CLI::App& c, SimArguments& a) {
  SimWorkloadArguments& w = a.workload;
  const auto of = [&a](const char* kind, const CLI::Option* o) { a.of_workload.push_back({kind, o}); };
  c.add_option("--workload", a.workload,
               "loop (default): each pair keeps messages outstanding; mixed: Poisson arrivals; llama-7b, "
               "gpt-13b, zero-3: training iterations; or a file: a capture (.pcap, .pcapng), whose messages "
               "are posted again, or AICB's text format");
  of("loop", c.add_option("--message", w.message, "Of loop: bytes of one message (64KiB)"));
  of("loop", c.add_option("--outstanding", w.outstanding,
                          "Of loop: messages that each pair of hosts keeps outstanding (16)"));
  of("mixed", c.add_option("--load", w.load, "Of mixed: share of the hosts' line rate (50%)"));
  of("training", c.add_option("--iterations", w.iterations, "Of training: how many (3)"));
  of("training",
     c.add_option("--scale", w.scale,
                  "Of training: bytes and computing are divided by this (64; of an example its own)"));
  of("training",
     c.add_option("--jitter", w.jitter, "Of training: computing takes up to so much more or less (0)"));
  of("training", c.add_option("--pattern", w.pattern,
                              "Of training: how reductions go round: mirror (default), ring or pairwise"));
  of("capture",
     c.add_option("--site-a", w.site_a, "Of a capture: addresses that stand at site A, like 10.9.0.0/24"));
}

// A user would believe that it was tried.
void refuse_what_says_nothing(const SimArguments& a) {
  const std::string kind = workload_kind(a.workload.workload);
  for (const auto& [of, option] : a.of_workload)
    if (option->count() > 0 && of != kind)
      stop(option->get_name() + ": says nothing about --workload " + a.workload.workload + "; it is of " + of,
           kUsage);
  const std::vector<sim::LongHaul> schemes = parse_schemes(a.schemes);
  if (std::find(schemes.begin(), schemes.end(), sim::LongHaul::kMatchRdma) != schemes.end()) return;
  for (const CLI::Option* option : a.of_proxies)
    if (option->count() > 0)
      stop(option->get_name() + ": says nothing about --scheme " + a.schemes + "; it is of matchrdma", kUsage);
}

void run_sim(const SimArguments& a) {
  refuse_what_says_nothing(a);
  const SimPlan plan = plan_of(a);
  const std::vector<OutputFile> outputs{{"--json", a.json}};
  or_stop(check_outputs(a.workload.workload, outputs, "the workload"));
  if (auto r = check_writable(outputs); !r) stop(r.error());
  std::vector<SimRun> runs;
  for (const sim::LongHaul s : plan.schemes) runs.push_back(run_one(plan, s));
  if (a.json != "-") print_runs(std::cout, plan.load.words, runs);
  if (!std::cout.flush()) stop("(stdout): write failed; the report is incomplete");
  if (!a.json.empty())
    if (auto r = write_json(runs_json(plan.load.words, runs), a.json); !r) stop(r.error());
}

}  // namespace

void add_sim_command(CLI::App& app) {
  CLI::App* c = app.add_subcommand(
      "sim", "Simulate two sites of 16 hosts and the long link between them, with and without proxies");
  auto a = std::make_shared<SimArguments>();
  c->add_option("--scheme", a->schemes,
                "What stands at the ends of the long link: dcqcn (nothing), pseudo-ack, themis, matchrdma; "
                "several with commas, or all (dcqcn,matchrdma)");
  c->add_option("--distance", a->distance, "Length of the long link in km (100)");
  c->add_option("--loss", a->loss, "Chance of a frame to be lost on the long link (0)");
  add_workload_options(*c, *a);
  c->add_option("--duration", a->duration,
                "Virtual time that is measured (5 round trips, 5 ms at least), after 20 round trips, 100 ms at "
                "least, of warming up; of a workload that ends, the most that it may take (60s)");
  c->add_option("--mtu", a->mtu, "Payload bytes of a packet (4096)");
  c->add_option("--otn-buffer", a->otn_buffer,
                "Packet memory of the nodes at the long link, 1MiB at least (never full); the proxies of "
                "matchrdma have their own");
  const auto of_proxies = [a](const CLI::Option* o) { a->of_proxies.push_back(o); };
  of_proxies(c->add_option("--completion", a->completion, "Of matchrdma: early (default) or end-to-end"));
  of_proxies(c->add_option(
      "--estimator", a->estimator,
      "Of matchrdma: earned (default), paper, last (what is now goes on), or fixed at a host's rate"));
  of_proxies(c->add_flag("--no-gate", a->no_gate, "Of matchrdma: budgets hold nothing back"));
  of_proxies(c->add_flag("--no-cnp-proxy", a->no_cnp_proxy, "Of matchrdma: marks cross the long link"));
  c->add_option("--seed", a->seed, "Seed of all chance (1): same seed, same run");
  c->add_option("--json", a->json, "Also write the figures as JSON to this file; - is stdout, without tables");
  add_sim_evaluate_command(*c);
  add_sim_swarm_command(*c);
  c->callback([a, c] {
    if (c->get_subcommands().empty()) run_sim(*a);
  });
}

}  // namespace matchrdma
