// What a packet costs the daemon's own worker loop on ports in memory, beside what the bare steps cost that no
// proxy can do without. Ratios of one run are the result. Exit code 1: a ratio is above its aim.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "bench/dataplane/rig.h"
#include "bench/statistics.h"
#include "dataplane/io/eal.h"
#include "proxy/json_output.h"
#include "proxy/table.h"

namespace matchrdma::dataplane_bench {
namespace {

struct Options {
  std::vector<std::string> roles{"proxied", "transparent"};
  std::vector<uint32_t> payloads{256, 1024, 4096}, flows{1, 1000, 100'000, 1'000'000};
  std::vector<std::string> icrc{"on", "off"};
  uint32_t custody = 16384, message_packets = 0, report_us = 100, memory = 3072, cpu = 1;
  int turns = 48;
  std::string json;
};

struct Point {
  RigOptions o;
  Turns t;
};

/// Packets of a message: where each of very many flows sends seldom, a message is one packet.
uint32_t message_packets(const Options& o, uint32_t flows) {
  if (o.message_packets != 0) return o.message_packets;
  return flows > 10'000 ? 1 : 16;
}

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

/// Duty: lines for people and for machines, and which aims hold.
class Report {
 public:
  void add(const Point& p, double hz) {
    const bool transparent = p.o.completion == Completion::kTransparent;
    const double sum = lower_quartile(p.t.primitives), frame = p.o.traffic.payload + 58.0;
    const auto line = [&](const char* role, double cycles) {
      const double pps = hz / cycles, r = ratio(cycles, sum);
      table_.add(
          {role, std::to_string(p.o.traffic.payload), std::to_string(p.o.traffic.flows),
           p.o.check_icrc ? "on" : "off", decimal(pps / 1e6, 2), decimal(pps * frame * 8 / 1e9, 0),
           decimal(cycles, 0), decimal(sum, 0), decimal(r, 2), std::to_string(p.t.custody),
           decimal(1000.0 * static_cast<double>(p.t.span_datagrams) / static_cast<double>(p.t.packets), 1)});
      json_.push_back({{"role", role},
                       {"payload", p.o.traffic.payload},
                       {"flows", p.o.traffic.flows},
                       {"icrc", p.o.check_icrc},
                       {"message_packets", p.o.traffic.message_packets},
                       {"packets_per_second", pps},
                       {"cycles", cycles},
                       {"sum_of_primitives", sum},
                       {"ratio", r},
                       {"custody_packets", p.t.custody},
                       {"port", lower_quartile(p.t.port)},
                       {"lookup", lower_quartile(p.t.lookup)},
                       {"icrc_cycles", lower_quartile(p.t.icrc)},
                       {"retain", lower_quartile(p.t.retain)},
                       {"acks", lower_quartile(p.t.acks)},
                       {"registered_seconds", p.t.registered_seconds}});
      if (p.o.traffic.payload == 4096)
        aim(std::string(role) + ", 4 KiB, " + std::to_string(p.o.traffic.flows) + " flows: Gb/s of a core",
            pps * frame * 8 / 1e9, 100, false);
      if (transparent || !p.o.check_icrc || p.o.traffic.payload < 1024) return;
      if (p.o.traffic.flows == 1000) aim(name(role, p) + ": of the sum of primitives", r, 1.3, true);
      if (p.o.traffic.flows == 1'000'000) aim(name(role, p) + ": of the sum of primitives", r, 1.6, true);
    };
    if (transparent) {
      line("transparent", lower_quartile(p.t.source));
      return;
    }
    line("source", lower_quartile(p.t.source));
    line("destination", lower_quartile(p.t.destination));
  }
  void print() const {
    table_.print(std::cout);
    std::cout
        << "\ncycles of the time stamp counter per packet, lower quartiles of turns in which all take part;\n"
           "sum: the same packets through a port, a hash table, the ICRC, a reference kept as long, an ACK's "
           "buffer\n\n";
    aims_.print(std::cout);
  }
  bool missed() const { return missed_; }
  const nlohmann::ordered_json& json() const { return json_; }

 private:
  static std::string name(const char* role, const Point& p) {
    return std::string(role) + ", " + std::to_string(p.o.traffic.payload) + " B, " +
           std::to_string(p.o.traffic.flows) + " flows";
  }
  void aim(const std::string& what, double is, double wanted, bool at_most) {
    const bool holds = at_most ? is <= wanted : is >= wanted;
    missed_ |= !holds;
    aims_.add({what, decimal(is, 2), (at_most ? "at most " : "at least ") + decimal(wanted, 2),
               holds ? "yes" : "MISSED"});
  }

  using Align = Table::Align;
  Table table_{{{"role"},
                {"payload", Align::kRight},
                {"flows", Align::kRight},
                {"ICRC", Align::kRight},
                {"Mpackets/s", Align::kRight},
                {"Gb/s", Align::kRight},
                {"cycles", Align::kRight},
                {"sum", Align::kRight},
                {"ratio", Align::kRight},
                {"owned", Align::kRight},
                {"datagrams/1000", Align::kRight}}};
  Table aims_{{{"aim"}, {"is", Align::kRight}, {"wanted", Align::kRight}, {"holds"}}};
  nlohmann::ordered_json json_ = nlohmann::ordered_json::array();
  bool missed_ = false;
};

Result<void> measure(const Options& o, const io::Clock& clock, Report& report) {
  for (const std::string& role : o.roles) {
    for (const uint32_t flows : o.flows) {
      for (const uint32_t payload : o.payloads) {
        for (const std::string& icrc : o.icrc) {
          Point p;
          p.o.traffic = {flows, payload, message_packets(o, flows)};
          p.o.completion = role == "transparent" ? Completion::kTransparent : Completion::kEarly;
          p.o.check_icrc = icrc == "on";
          p.o.custody = o.custody;
          p.o.report_us = o.report_us;
          auto rig = Rig::create(p.o, clock);
          if (!rig) return Error{rig.error()};
          auto turns = (*rig)->run(o.turns);
          if (!turns) return Error{role + ", " + std::to_string(flows) + " flows: " + turns.error()};
          p.t = *turns;
          report.add(p, io::tsc_hz());
          std::cerr << '.' << std::flush;
        }
      }
    }
  }
  std::cerr << '\n';
  return {};
}

int run(const Options& o) {
  io::EalOptions e;
  e.memory_mib = o.memory;
  e.worker_cpus = {o.cpu};
  e.main_cpus = {0};
  auto eal = io::Eal::start(e);
  if (!eal) {
    std::cerr << "dataplane_bench: " << eal.error() << '\n';
    return 2;
  }
  const io::Clock clock;
  Report report;
  Result<void> done;
  if (auto r = (*eal)->launch(0, [&] { done = measure(o, clock, report); }); !r) done = Error{r.error()};
  (*eal)->join();
  if (!done) {
    std::cerr << "dataplane_bench: " << done.error() << '\n';
    return 2;
  }
  report.print();
  if (!o.json.empty()) {
    if (auto r = write_json(report.json(), o.json); !r) {
      std::cerr << "dataplane_bench: " << r.error() << '\n';
      return 2;
    }
  }
  return report.missed() ? 1 : 0;
}

}  // namespace
}  // namespace matchrdma::dataplane_bench

int main(int argc, char** argv) {
  using namespace matchrdma::dataplane_bench;
  Options o;
  CLI::App app{"What a packet costs the daemon's worker loop, beside the bare steps of DPDK"};
  app.add_option("--role", o.roles, "proxied (source and destination), transparent")
      ->delimiter(',')
      ->check(CLI::IsMember({"proxied", "transparent"}));
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
  app.add_option("--memory", o.memory, "MiB of hugepages")->check(CLI::Range(256, 65536));
  app.add_option("--cpu", o.cpu, "where it is measured");
  app.add_option("--json", o.json, "everything as JSON into this file; -: stdout");
  CLI11_PARSE(app, argc, argv);
  return run(o);
}
