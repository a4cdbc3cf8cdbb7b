// matchrdma sim swarm --seeds N --first S [--seconds T] [--one SEED] [--canary KIND] [--json FILE]
#include <array>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>

#include "pcap/capture_folder.h"
#include "proxy/commands.h"
#include "proxy/json_output.h"
#include "proxy/output_files.h"
#include "proxy/progress.h"
#include "proxy/table.h"
#include "sim/swarm/run.h"

namespace matchrdma {
namespace {

struct SwarmArguments {
  uint64_t seeds = 1000, first = 1, one = 0;
  double seconds = 0;
  std::string canary, json, captures = "swarm-failure";
  CLI::Option *one_option = nullptr, *seeds_option = nullptr, *seconds_option = nullptr,
              *canary_option = nullptr;
};

/// What a swarm has done so far.
struct SwarmResult {
  struct Failure {
    uint64_t seed = 0;
    std::string complaint;
  };
  uint64_t seeds = 0, packets = 0;
  std::array<uint64_t, swarm::kEvents> seeds_with{}, events{};
  std::optional<Failure> failure;
};

swarm::Canary canary_of(const SwarmArguments& a) {
  if (a.canary_option->count() == 0) return swarm::Canary::kNone;
  if (a.canary == "payload") return swarm::Canary::kPayload;
  if (a.canary == "memory") return swarm::Canary::kMemory;
  stop("--canary " + a.canary + ": no such canary; choose payload or memory", kUsage);
}

swarm::Options options_of(uint64_t seed, swarm::Canary canary) {
  swarm::Options o = swarm::swarm_options(seed);
  o.canary = canary;
  return o;
}

void add(SwarmResult& all, const swarm::Outcome& one) {
  ++all.seeds;
  all.packets += one.packets;
  for (size_t i = 0; i < swarm::kEvents; ++i) {
    all.events[i] += one.tally.n[i];
    all.seeds_with[i] += one.tally.n[i] > 0 ? 1 : 0;
  }
}

// Until all seeds are done, time is over, or one fails.
SwarmResult run_seeds(const SwarmArguments& a, swarm::Canary canary) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(a.seconds);
  const bool timed = a.seconds > 0;
  const bool endless = timed && a.seeds_option->count() == 0;
  const bool single = a.one_option->count() > 0;
  const uint64_t first = single ? a.one : a.first, count = single ? 1 : a.seeds;
  Progress progress("seeds", endless ? 0 : count, 1);
  SwarmResult all;
  while ((endless || all.seeds < count) && !(timed && std::chrono::steady_clock::now() >= until)) {
    const uint64_t seed = first + all.seeds;
    const swarm::Outcome r = swarm::run_schedule(options_of(seed, canary));
    add(all, r);
    progress.update(all.seeds);
    if (r.complaint.empty()) continue;
    all.failure = {seed, r.complaint};
    break;
  }
  return all;
}

void print_exercised(const SwarmResult& r) {
  Table t({{"what happened", Table::Align::kLeft},
           {"seeds", Table::Align::kRight},
           {"times", Table::Align::kRight}});
  for (size_t i = 0; i < swarm::kEvents; ++i)
    t.add({swarm::kEventTexts[i], thousands(r.seeds_with[i]), thousands(r.events[i])});
  t.print(std::cout);
}

nlohmann::ordered_json json_of(const SwarmArguments& a, const SwarmResult& r) {
  nlohmann::ordered_json j;
  j["first"] = a.one_option->count() > 0 ? a.one : a.first;
  j["seeds"] = r.seeds;
  j["packets"] = r.packets;
  for (size_t i = 0; i < swarm::kEvents; ++i)
    j["exercised"][swarm::kEventKeys[i]] = {{"seeds", r.seeds_with[i]}, {"times", r.events[i]}};
  j["failure"] = nullptr;
  if (r.failure) j["failure"] = {{"seed", r.failure->seed}, {"complaint", r.failure->complaint}};
  return j;
}

// The failing schedule, as simple as it can be while it fails, with its captures.
void explain(const SwarmArguments& a, const SwarmResult::Failure& f, swarm::Canary canary) {
  std::cout << "seed " << f.seed << ": " << f.complaint << "\n";
  const swarm::Options small = swarm::shrink(options_of(f.seed, canary));
  CaptureFolder captures(a.captures, {"lan-a", "wan", "lan-b"});
  const swarm::Outcome again = swarm::run_schedule(
      small, [&](swarm::Tap tap, Instant at, Bytes b) { captures.write(static_cast<size_t>(tap), at, b); });
  std::cout << "the simplest schedule that still fails ("
            << again.complaint.substr(0, again.complaint.find('\n')) << "), " << thousands(again.packets)
            << " packets, captures in " << a.captures << ":\n"
            << swarm::describe(small);
}

void run_swarm(const SwarmArguments& a) {
  const swarm::Canary canary = canary_of(a);
  if (a.seconds_option->count() > 0 && !(a.seconds > 0)) stop("--seconds: choose a time above 0", kUsage);
  if (a.seeds == 0) stop("--seeds 0: choose how many worlds, 1 or more", kUsage);
  if (auto r = check_writable({{"--json", a.json}}); !r) stop(r.error());
  const SwarmResult all = run_seeds(a, canary);
  if (!a.json.empty()) {
    if (auto r = write_json(json_of(a, all), a.json); !r) stop(r.error());
  }
  if (a.json != "-") {
    print_exercised(all);
    std::cout << thousands(all.seeds) << (all.seeds == 1 ? " seed, " : " seeds, ") << thousands(all.packets)
              << " packets, " << (all.failure ? "an invariant broke" : "no invariant broken") << "\n";
    if (all.failure) explain(a, *all.failure, canary);
    if (!std::cout.flush()) stop("(stdout): write failed");
  }
  if (!all.failure) return;
  stop("seed " + std::to_string(all.failure->seed) + " failed; again: matchrdma sim swarm --one " +
       std::to_string(all.failure->seed) + (a.canary.empty() ? "" : " --canary " + a.canary));
}

}  // namespace

void add_sim_swarm_command(CLI::App& sim) {
  CLI::App* c = sim.add_subcommand("swarm", "Random worlds with random faults against the seven invariants");
  auto a = std::make_shared<SwarmArguments>();
  a->seeds_option = c->add_option("--seeds", a->seeds, "How many worlds; 1000, or all that --seconds allow");
  c->add_option("--first", a->first, "Seed of the first one");
  a->seconds_option = c->add_option("--seconds", a->seconds, "Begin no further world after this time");
  a->one_option = c->add_option("--one", a->one, "This seed alone");
  a->canary_option =
      c->add_option("--canary", a->canary, "Put in a fault that must be found: payload or memory");
  c->add_option("--json", a->json, "Write what was exercised as JSON; - is stdout");
  c->add_option("--captures", a->captures, "Folder for the captures of a failing world");
  c->footer("Example: matchrdma sim swarm --seeds 10000 --first 1");
  for (CLI::Option* o : {a->seeds_option, a->seconds_option}) a->one_option->excludes(o);
  c->callback([a] { run_swarm(*a); });
}

}  // namespace matchrdma
