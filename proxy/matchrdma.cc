// The tool `matchrdma`: its subcommands, and nothing else.
#include "proxy/commands.h"

int main(int argc, char** argv) {
  CLI::App app{"matchrdma: tools around the RoCEv2 long-haul proxy"};
  app.set_version_flag("--version", MATCHRDMA_VERSION);
  app.require_subcommand(1);
  matchrdma::add_trace_command(app);
  matchrdma::add_replay_command(app);
  matchrdma::add_slots_command(app);
  matchrdma::add_sim_command(app);
  matchrdma::add_plan_command(app);
  matchrdma::add_config_command(app);
#ifdef MATCHRDMA_HAS_SPAN
  matchrdma::add_span_command(app);
#endif
  matchrdma::add_ctl_command(app);
  app.footer(
      "Exit codes: 0 done; 1 a file cannot be read or written, a swarm broke an "
      "invariant, or a plan failed its check; 2 what was typed is wrong; 3 a replay "
      "found BROKEN promises of the proxies.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& e) {
    return e.get_exit_code();  // stop() has said why
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : matchrdma::kUsage;  // --help is no error
  }
  return 0;
}
