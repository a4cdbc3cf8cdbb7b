// matchrdmad: the proxy at one end of one or more long links.
#include <sysexits.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>

#include "config/load.h"
#include "proxy/daemon/daemon.h"
#include "proxy/daemon/log.h"

int main(int argc, char** argv) {
  using namespace matchrdma;
  CLI::App app{"matchrdmad: lets RDMA span a long link. Give one to each end of it."};
  app.set_version_flag("--version", MATCHRDMA_VERSION);
  std::string path = "/etc/matchrdma/matchrdmad.yaml";
  bool check = false;
  app.add_option("--config", path, "YAML file; docs/configuration.md describes it")->capture_default_str();
  app.add_flag("--check", check, "check the file, and the key files it names, and end");
  app.footer("Exit codes: 0 ended as asked; 1 it could not start; 2 what was typed is wrong; 78 the file is.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  const ConfigResult config = load_config(path);
  std::cerr << complaints(config);
  if (!config.ok()) return EX_CONFIG;  // deploy/matchrdmad.service: only a person can mend that
  if (check) {
    std::cout << path << ": good\n";
    return 0;
  }
  if (const auto r = daemon::start_log(config.config->log, config.config->name); !r) {
    std::cerr << "matchrdmad: " << r.error() << "\n";
    return 1;
  }
  auto d = daemon::Daemon::start(config.config, path);
  if (!d) {
    daemon::log().error(d.error());
    // Who starts it looks at the terminal.
    if (!config.config->log.file.empty()) std::cerr << "matchrdmad: " << d.error() << "\n";
    return 1;
  }
  for (const std::string& line : (*d)->sizes()) daemon::log().info(line);
  for (const std::string& line : (*d)->warnings()) daemon::log().warn(line);
  daemon::log().info("running");
  (*d)->run();
  std::_Exit(0);
}
