#pragma once
// The subcommands of the tool. Each stands in its own file cmd_NAME.cc and registers itself at the CLI11 app.
#include <CLI/CLI.hpp>
#include <string>

namespace matchrdma {

void add_trace_command(CLI::App& app);
void add_replay_command(CLI::App& app);

/// Ends a subcommand: prints "matchrdma: SENTENCE" on stderr and makes the tool exit with `exit_code`.
[[noreturn]] void stop(const std::string& sentence, int exit_code = 1);

}  // namespace matchrdma
