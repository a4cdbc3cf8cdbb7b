#pragma once
// The subcommands of the tool. Each stands in its own file cmd_NAME.cc and registers itself at the CLI11 app.
#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "dataplane/base/result.h"

namespace matchrdma {

void add_trace_command(CLI::App& app);
/// Below `trace`.
void add_trace_make_command(CLI::App& trace);
void add_replay_command(CLI::App& app);
void add_slots_command(CLI::App& app);
void add_sim_command(CLI::App& app);
/// Below `sim`.
void add_sim_evaluate_command(CLI::App& sim);
void add_sim_swarm_command(CLI::App& sim);
void add_plan_command(CLI::App& app);
void add_config_command(CLI::App& app);
/// Only in builds with DPDK (MATCHRDMA_HAS_SPAN).
void add_span_command(CLI::App& app);
void add_ctl_command(CLI::App& app);

/// What the tool exits with, besides 0.
enum ExitCode : int {
  kFailed = 1,  ///< a file cannot be read or written, a swarm broke an invariant, or a plan failed its check
  kUsage = 2,   ///< what was typed is wrong
  kBroken = 3,  ///< a replay found that the proxies broke a promise
};

/// Ends a subcommand: prints "matchrdma: SENTENCE" on stderr and makes the tool exit with `exit_code`.
[[noreturn]] void stop(const std::string& sentence, int exit_code = kFailed);
/// The value of an option, or the end when what was typed is none.
template <class T>
T or_stop(Result<T> r) {
  if (!r) stop(r.error(), kUsage);
  return std::move(*r);
}

inline void or_stop(const Result<void>& r) {
  if (!r) stop(r.error(), kUsage);
}

}  // namespace matchrdma
