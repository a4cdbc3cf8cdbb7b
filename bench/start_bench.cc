// How long matchrdmad takes to start at full size, and what memory that takes: all flows and all custody that
// one worker has to bear, and a tenth of it. On ports in memory; needs root, and hugepages for half of the
// runs.
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <string>

#include "bench/start/started_daemon.h"
#include "dataplane/shard/shard.h"
#include "proxy/json_output.h"
#include "proxy/table.h"

namespace matchrdma::start_bench {
namespace {

struct Options {
  uint32_t flows = 1'000'000, custody_mb = 2000;
  int64_t limit_s = 30;
  std::string program, json;
};

/// Bytes that the tables take when all of it is in use, as the daemon itself reckons before it starts.
struct Reckoned {
  uint64_t tables = 0, per_flow = 0, per_custody_packet = 0;
};

Reckoned reckon(const Wanted& w) {
  Limits l;
  l.max_flows = w.flows;
  l.custody_packets = w.custody_packets;
  l.held_packets = kHeldPackets;
  Reckoned r;
  r.tables = Shard::table_bytes(l);
  Limits one = l;
  one.max_flows += 1;
  r.per_flow = Shard::table_bytes(one) - r.tables;
  one = l;
  one.custody_packets += 1000;
  r.per_custody_packet = (Shard::table_bytes(one) - r.tables) / 1000;
  return r;
}

Table table() {
  using Align = Table::Align;
  return Table({{"memory"},
                {"flows", Align::kRight},
                {"custody packets", Align::kRight},
                {"ready", Align::kRight},
                {"answers", Align::kRight},
                {"ends in", Align::kRight},
                {"packets", Align::kRight},
                {"tables at start", Align::kRight},
                {"tables in use", Align::kRight},
                {"a flow", Align::kRight},
                {"a custody packet", Align::kRight}});
}

void add(Table& t, nlohmann::ordered_json& json, const Wanted& w, const Started& s) {
  const Reckoned r = reckon(w);
  const uint64_t pool = s.pool_packets * s.packet_bytes, packet = s.packet_bytes + r.per_custody_packet;
  const auto volume = [](uint64_t bytes) { return volume_text(static_cast<double>(bytes)); };
  t.add({w.huge ? "hugepages" : "ordinary", thousands(w.flows), thousands(w.custody_packets),
         duration_text(s.ready.ns), duration_text(s.answered.ns), duration_text(s.ended.ns), volume(pool),
         volume(s.anonymous), volume(r.tables), thousands(r.per_flow) + " B", thousands(packet) + " B"});
  json.push_back({{"hugepages", w.huge},
                  {"max_flows", w.flows},
                  {"custody_packets", w.custody_packets},
                  {"ready_ns", s.ready.ns},
                  {"answered_ns", s.answered.ns},
                  {"ended_ns", s.ended.ns},
                  {"pool_packets", s.pool_packets},
                  {"pool_bytes", pool},
                  {"hugepage_bytes", s.hugepages},
                  {"anonymous_bytes", s.anonymous},
                  {"shared_bytes", s.shared},
                  {"file_bytes", s.files},
                  {"table_bytes_in_use", r.tables},
                  {"bytes_per_flow", r.per_flow},
                  {"bytes_per_custody_packet", packet}});
}

int run(const Options& o) {
  Table t = table();
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  bool late = false;
  for (const bool huge : {true, false}) {
    for (const uint32_t part : {10u, 1u}) {
      const Wanted w{2 * o.flows / part,
                     static_cast<uint32_t>(uint64_t{o.custody_mb} * 1'000'000 / 4096 / part) + 1, huge};
      const auto s = start_daemon(o.program, w, Duration::seconds(10 * o.limit_s));
      if (!s) {
        std::cerr << "start_bench: " << s.error() << '\n';
        return 1;
      }
      late |= huge && s->ready > Duration::seconds(o.limit_s);
      add(t, json, w, *s);
    }
  }
  std::cout << "one worker, one span, MTU " << kMtu
            << "; two flows for each queue pair; a packet is held in a whole buffer, whatever its size\n\n";
  t.print(std::cout);
  std::cout << "\ntables at start: ordinary memory of the process; in use: when every flow and entry is taken, "
               "as the "
               "daemon reckons\nready within "
            << o.limit_s << " s with hugepages: " << (late ? "MISSED" : "yes") << '\n';
  if (!o.json.empty()) {
    if (const auto r = write_json(json, o.json); !r) {
      std::cerr << "start_bench: " << r.error() << '\n';
      return 1;
    }
  }
  return late ? 1 : 0;
}

}  // namespace
}  // namespace matchrdma::start_bench

int main(int argc, char** argv) {
  matchrdma::start_bench::Options o;
  o.program = (std::filesystem::canonical("/proc/self/exe").parent_path() / "matchrdmad").string();
  CLI::App app{"matchrdmad at full size: time to start and memory"};
  app.add_option("--pairs", o.flows, "queue pairs, with two flow records each")
      ->check(CLI::Range(10, 100'000'000))
      ->capture_default_str();
  app.add_option("--custody", o.custody_mb, "MB of custody, in packets of 4 KiB")
      ->check(CLI::Range(100, 1'000'000))
      ->capture_default_str();
  app.add_option("--limit", o.limit_s, "seconds that a start with hugepages may take")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  app.add_option("--program", o.program, "the matchrdmad to start")->capture_default_str();
  app.add_option("--json", o.json, "FILE or -");
  CLI11_PARSE(app, argc, argv);
  return matchrdma::start_bench::run(o);
}
