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

/// Ends a subcommand: prints "matchrdma: SENTENCE" on stderr and makes the tool exit with `exit_code`.
[[noreturn]] void stop(const std::string& sentence, int exit_code = 1);
/// The value of an option, or the end when what was typed is none.
template <class T>
T or_stop(Result<T> r) {
  if (!r) stop(r.error(), 2);
  return std::move(*r);
}

inline void or_stop(const Result<void>& r) {
  if (!r) stop(r.error(), 2);
}

}  // namespace matchrdma
