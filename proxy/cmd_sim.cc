// matchrdma sim SUBCOMMAND
#include "proxy/commands.h"

namespace matchrdma {

void add_sim_command(CLI::App& app) {
  CLI::App* sim = app.add_subcommand("sim", "Simulate networks around the proxies");
  sim->require_subcommand(1);
  add_sim_swarm(*sim);
}

}  // namespace matchrdma
