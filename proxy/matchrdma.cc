// The tool `matchrdma`: its subcommands, and nothing else.
#include "proxy/commands.h"

int main(int argc, char** argv) {
  CLI::App app{"matchrdma: tools around the RoCEv2 long-haul proxy"};
  app.require_subcommand(1);
  matchrdma::add_trace_command(app);
  matchrdma::add_replay_command(app);
  CLI11_PARSE(app, argc, argv);
  return 0;
}
