// matchrdma config FILE: is it good, and what does it say with all defaults.
#include <iostream>
#include <memory>

#include "config/load.h"
#include "config/print.h"
#include "proxy/commands.h"
#include "proxy/config_report.h"
#include "proxy/json_output.h"

namespace matchrdma {
namespace {

struct ConfigArguments {
  std::string file;
  bool check = false, print = false, json = false, without_keys = false;
};

std::string counted(size_t n, const std::string& one, const std::string& more) {
  return std::to_string(n) + " " + (n == 1 ? one : more);
}

void run_config(const ConfigArguments& a) {
  if (!a.check && !a.print) stop("config " + a.file + ": nothing to do; write --check, --print or both", 2);
  const ConfigResult r = load_config(a.file, a.without_keys ? Keys::kLeave : Keys::kRead);
  if (a.json) {
    nlohmann::ordered_json j = complaints_json(a.file, r);
    if (a.print && r.ok()) j["config"] = config_json(*r.config);
    or_stop(write_json(j, "-"));
  } else {
    print_complaints(std::cerr, r);
    if (a.print && r.ok()) std::cout << print_config(*r.config);
    if (a.check && !a.print && r.ok())
      std::cout << a.file << ": good: " << counted(r.config->spans.size(), "span", "spans") << ", "
                << counted(r.config->classes.size(), "class", "classes") << '\n';
  }
  if (!std::cout.flush()) stop("(stdout): write failed; the output is incomplete");
  if (!r.ok()) stop(a.file + ": " + counted(r.errors.size(), "error", "errors"));
}

}  // namespace

void add_config_command(CLI::App& app) {
  CLI::App* c =
      app.add_subcommand("config", "Check a configuration of matchrdmad, or print it with all defaults");
  auto a = std::make_shared<ConfigArguments>();
  c->add_option("file", a->file, "Configuration, YAML; docs/configuration.md has every key")->required();
  c->add_flag("--check", a->check,
              "Tell every error with its line and what to do; exit code 1 if there is one");
  c->add_flag("--print", a->print, "Print what is in effect, defaults included");
  c->add_flag("--json", a->json, "Errors, warnings and configuration as JSON on stdout");
  c->add_flag("--without-keys", a->without_keys, "Do not open the key files, for a machine that has none");
  c->callback([a] { run_config(*a); });
}

}  // namespace matchrdma
