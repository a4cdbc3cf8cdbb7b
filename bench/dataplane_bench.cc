// What a packet costs the daemon's own worker loop on ports in memory, beside what the bare steps cost that no
// proxy can do without. Ratios of one run are the result. Exit code 1: a ratio is above its aim.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "bench/dataplane/ack_cost.h"
#include "bench/dataplane/forward.h"
#include "bench/dataplane/report.h"
#include "bench/dataplane/rig.h"
#include "bench/dataplane/stages.h"
#include "bench/statistics.h"
#include "dataplane/io/eal.h"
#include "proxy/json_output.h"

namespace matchrdma::dataplane_bench {
namespace {

constexpr uint32_t kMainCpu = 0;

struct Options {
  std::vector<std::string> roles{"proxied", "transparent", "stages", "forward", "ack", "delay"};
  std::vector<uint32_t> payloads{256, 1024, 4096}, flows{1, 1000, 100'000, 1'000'000};
  std::vector<std::string> icrc{"on", "off"};
  uint32_t custody = 16384, message_packets = 0, report_us = 100, memory = 3072, cpu = 1;
  uint32_t delayed = 200'000;
  int turns = 48, rounds = 3, seconds = 2;
  std::string json;
};

/// Packets of a message: where each of very many flows sends seldom, a message is one packet.
uint32_t message_packets(const Options& o, uint32_t flows) {
  if (o.message_packets != 0) return o.message_packets;
  return flows > 10'000 ? 1 : 16;
}

bool wanted(const Options& o, const char* role) {
  return std::find(o.roles.begin(), o.roles.end(), role) != o.roles.end();
}

RigOptions rig_options(const Options& o, uint32_t flows, uint32_t payload) {
  RigOptions r;
  r.traffic = {flows, payload, message_packets(o, flows)};
  r.custody = o.custody;
  r.report_us = o.report_us;
  return r;
}

Result<void> measure_point(const Options& o, const RigOptions& r, const io::Clock& clock, Report& report) {
  auto rig = Rig::create(r, clock);
  if (!rig) return Error{rig.error()};
  auto turns = (*rig)->run(o.turns);
  if (!turns) return Error{turns.error()};
  if (auto done = (*rig)->finish(); !done) return Error{done.error()};
  report.add(Point{r, *turns});
  return {};
}

Result<void> measure_roles(const Options& o, const io::Clock& clock, Report& report) {
  for (const bool proxied : {true, false}) {
    if (!wanted(o, proxied ? "proxied" : "transparent")) continue;
    for (const uint32_t flows : o.flows) {
      for (const uint32_t payload : o.payloads) {
        for (const std::string& icrc : o.icrc) {
          RigOptions r = rig_options(o, flows, payload);
          r.completion = proxied ? Completion::kEarly : Completion::kTransparent;
          r.check_icrc = icrc == "on";
          if (auto done = measure_point(o, r, clock, report); !done)
            return Error{std::to_string(flows) + " flows, " + std::to_string(payload) + " B: " + done.error()};
          std::cerr << '.' << std::flush;
        }
      }
    }
  }
  return {};
}

Result<void> measure_all_stages(const Options& o, Report& report) {
  if (!wanted(o, "stages")) return {};
  for (const uint32_t flows : o.flows) {
    for (const uint32_t payload : o.payloads) {
      const RigOptions r = rig_options(o, flows, payload);
      auto stages = measure_stages(r.traffic, r.phase, o.turns);
      if (!stages) return Error{stages.error()};
      report.add(r.traffic, *stages);
      std::cerr << '.' << std::flush;
    }
  }
  return {};
}

Result<void> measure_delays(const Options& o, const io::Clock& clock, Report& report) {
  if (!wanted(o, "delay")) return {};
  // Short turns: at a low load a long one would be longer than the round trip.
  constexpr uint32_t kShort = 8;
  RigOptions options = rig_options(o, 1000, 1024);
  options.phase /= kShort;
  auto rig = Rig::create(options, clock);
  if (!rig) return Error{rig.error()};
  auto turns = (*rig)->run(o.turns * static_cast<int>(kShort));
  if (!turns) return Error{turns.error()};
  for (const double load : {0.1, 0.5, 0.9}) {
    auto d = (*rig)->delays(load, *turns, o.delayed);
    if (!d) return Error{d.error()};
    report.add(load, *d);
    std::cerr << '.' << std::flush;
  }
  return (*rig)->finish();
}

Result<void> measure_acks(const Options& o, Report& report) {
  if (!wanted(o, "ack")) return {};
  auto pool = io::MbufPool::create("acks", 8192, 256);
  if (!pool) return Error{pool.error()};
  report.add_ack(lower_quartile(ack_cycles(**pool)));
  return {};
}

Result<void> measure_forward(const Options& o, io::Eal& eal, const io::Clock& clock, Report& report) {
  constexpr uint32_t kHeaders = 58;
  if (!wanted(o, "forward")) return {};
  ForwardOptions f;
  f.cpu = o.cpu;
  f.main_cpu = kMainCpu;
  f.seconds = o.seconds;
  f.rounds = o.rounds;
  for (const uint32_t payload : o.payloads) {
    auto forwarded = measure_forwarding(eal, clock, payload + kHeaders, f);
    if (!forwarded) return Error{forwarded.error()};
    report.add(*forwarded);
    std::cerr << '.' << std::flush;
  }
  return {};
}

int failed(const std::string& why) {
  std::cerr << "\ndataplane_bench: " << why << '\n';
  return 2;
}

int run(const Options& o) {
  io::EalOptions e;
  e.memory_mib = o.memory;
  e.worker_cpus = {o.cpu};
  e.main_cpus = {kMainCpu};
  auto eal = io::Eal::start(e);
  if (!eal) return failed(eal.error());
  const io::Clock clock;
  Report report(io::tsc_hz());
  Result<void> done;
  const auto on_worker = [&] {
    for (const auto& part : std::initializer_list<std::function<Result<void>()>>{
             [&] { return measure_acks(o, report); }, [&] { return measure_roles(o, clock, report); },
             [&] { return measure_all_stages(o, report); }, [&] { return measure_delays(o, clock, report); }}) {
      if (done) done = part();
    }
  };
  if (auto r = (*eal)->launch(0, on_worker); !r) return failed(r.error());
  (*eal)->join();
  if (done) done = measure_forward(o, **eal, clock, report);
  if (!done) return failed(done.error());
  std::cerr << '\n';
  report.print(std::cout);
  if (!o.json.empty()) {
    if (auto r = write_json(report.json(), o.json); !r) return failed(r.error());
  }
  return report.missed() ? 1 : 0;
}

}  // namespace
}  // namespace matchrdma::dataplane_bench

int main(int argc, char** argv) {
  using namespace matchrdma::dataplane_bench;
  Options o;
  CLI::App app{"What a packet costs the daemon's worker loop, beside the bare steps of DPDK"};
  app.add_option(
         "--role", o.roles,
         "proxied (source and destination), transparent, stages, forward (beside dpdk-testpmd), ack, delay")
      ->delimiter(',')
      ->check(CLI::IsMember({"proxied", "transparent", "stages", "forward", "ack", "delay"}));
  app.add_option("--payload", o.payloads, "bytes of a packet's payload: path MTUs")
      ->delimiter(',')
      ->check(CLI::IsMember({256, 512, 1024, 2048, 4096}));
  app.add_option("--flows", o.flows, "QP pairs")->delimiter(',')->check(CLI::Range(1, 2'000'000));
  app.add_option("--icrc", o.icrc, "on, off")->delimiter(',')->check(CLI::IsMember({"on", "off"}));
  app.add_option("--custody", o.custody, "packets on the span")->check(CLI::Range(2048, 131072));
  app.add_option("--message-packets", o.message_packets,
                 "packets of a message; 0: 16, or 1 where flows are many")
      ->check(CLI::Range(0, 256));
  app.add_option("--report-us", o.report_us, "custody_ack_interval: small ones make more control messages")
      ->check(CLI::Range(1, 100'000));
  app.add_option("--turns", o.turns, "turns that are counted")->check(CLI::Range(4, 100'000));
  app.add_option("--delayed", o.delayed, "packets whose delay is measured at each load")
      ->check(CLI::Range(2048, 10'000'000));
  app.add_option("--rounds", o.rounds, "of each forwarder")->check(CLI::Range(1, 100));
  app.add_option("--seconds", o.seconds, "of each such round")->check(CLI::Range(1, 60));
  app.add_option("--memory", o.memory, "MiB of hugepages")->check(CLI::Range(256, 65536));
  app.add_option("--cpu", o.cpu, "where it is measured");
  app.add_option("--json", o.json, "everything as JSON into this file; -: stdout");
  CLI11_PARSE(app, argc, argv);
  return run(o);
}
