// Packets per second of a whole replay: 1 KiB MTU WRITE stream, early completion, registered, ICRC on, no
// outputs. One core. With --memory: what it needs besides the packets in custody.
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "bench/statistics.h"
#include "dataplane/wire/frame_builder.h"
#include "pcap/capture_writer.h"
#include "pcap/replay_options.h"
#include "proxy/json_output.h"
#include "proxy/table.h"

namespace matchrdma {
namespace {

constexpr uint32_t kMtu = 1024, kMessagePackets = 64;
constexpr Duration kGap = Duration::nanos(92);  ///< 1 KiB packets back to back at 100 Gb/s
constexpr Duration kHostLatency = Duration::micros(8);

/// Removes the trace when the program ends.
struct TemporaryFile {
  std::string path =
      (std::filesystem::temp_directory_path() / ("matchrdma_bench_" + std::to_string(getpid()) + ".pcap"))
          .string();
  ~TemporaryFile() { std::remove(path.c_str()); }
};

void or_die(const Result<void>& r) {
  if (r) return;
  std::cerr << "replay_bench: " << r.error() << '\n';
  std::exit(1);
}

/// Builds the two directions of one WRITE stream and writes them in order of time.
class TraceMaker {
 public:
  explicit TraceMaker(CaptureWriter& out) : out_(out), payload_(kMtu, 0x5a) {
    to_b_.mac_dst = {2, 0, 0, 0, 0, 2};
    to_b_.mac_src = {2, 0, 0, 0, 0, 1};
    to_b_.src = IpAddress::v4(std::array<uint8_t, 4>{10, 0, 0, 1}.data());
    to_b_.dst = IpAddress::v4(std::array<uint8_t, 4>{10, 0, 0, 2}.data());
    to_b_.udp_source_port = 0xc123;
    to_a_ = to_b_;
    std::swap(to_a_.mac_dst, to_a_.mac_src);
    std::swap(to_a_.src, to_a_.dst);
  }
  void make(uint32_t packets) {
    for (uint32_t i = 0; i < packets; ++i) {
      const Instant now = kStart + kGap * i;
      while (!acks_.empty() && acks_.front().at <= now) write_ack();
      const uint32_t place = i % kMessagePackets;
      const bool last = place == kMessagePackets - 1;
      RoceSpec r;
      r.opcode = place == 0 ? op::kRcWriteFirst : last ? op::kRcWriteLast : op::kRcWriteMiddle;
      r.dest_qp = Qpn{0x12};
      r.psn = Psn{i & Psn::kMask};
      r.ack_req = last;
      r.dma_length = kMtu * kMessagePackets;
      r.payload = payload_;
      write(to_b_, r, now);
      if (last) acks_.push_back({now + kHostLatency, i, i / kMessagePackets + 1});
    }
    while (!acks_.empty()) write_ack();
  }

 private:
  struct Ack {
    Instant at;
    uint32_t psn, msn;
  };
  static constexpr Instant kStart{1'700'000'000'000'000'000};
  void write_ack() {
    const Ack a = acks_.front();
    acks_.erase(acks_.begin());
    RoceSpec r;
    r.opcode = op::kRcAck;
    r.dest_qp = Qpn{0x11};
    r.psn = Psn{a.psn & Psn::kMask};
    r.syndrome = kAethAck | 31;
    r.msn = Msn{a.msn & Psn::kMask};
    write(to_a_, r, a.at);
  }
  void write(const L2L3& l, const RoceSpec& r, Instant at) {
    frame_.resize(roce_frame_size(l, r));
    build_roce(l, r, frame_);
    or_die(out_.write(at, frame_));
  }
  CaptureWriter& out_;
  std::vector<uint8_t> payload_, frame_;
  std::vector<Ack> acks_;
  L2L3 to_b_, to_a_;
};

struct Run {
  double wall = 0, cpu = 0;
  ReplayResult result;
};

Run run_once(const std::string& trace) {
  ReplayOptions o;
  o.register_flows = true;
  o.trace = trace;
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  auto r = replay(o);
  if (!r) {
    std::cerr << "replay_bench: " << r.error() << '\n';
    std::exit(1);
  }
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC, std::move(*r)};
}

uint64_t peak_rss_bytes() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return static_cast<uint64_t>(u.ru_maxrss) * 1024;
}

struct BenchOptions {
  uint32_t packets = 300'000;
  int runs = 5;
  bool memory = false;
  std::string json;
};

/// Peaks of the process and of what it has to hold.
struct Memory {
  static constexpr uint64_t kAllowed = 200'000'000;
  uint64_t rss = 0, custody = 0, destination = 0, in_flight = 0;
  /// A packet in flight or at the destination is the same memory that custody holds, so only the larger counts.
  uint64_t besides() const { return rss - std::min(rss, std::max(custody, destination + in_flight)); }
};

void print(const Memory& m, Table& t) {
  t.add({"peak memory, bytes", thousands(m.rss)});
  t.add({"of it custody", thousands(m.custody)});
  t.add({"of that at the destination", thousands(m.destination)});
  t.add({"of that in flight", thousands(m.in_flight)});
  t.add({"besides custody", thousands(m.besides())});
}

int bench(const BenchOptions& o) {
  TemporaryFile file;
  auto writer = CaptureWriter::open(file.path);
  if (!writer) or_die(Error{writer.error()});
  TraceMaker(*writer).make(o.packets);
  or_die(writer->close());
  std::vector<double> wall, cpu;
  Run last;
  for (int i = 0; i < o.runs; ++i) {
    last = run_once(file.path);
    const double n = static_cast<double>(last.result.trace.packets);
    wall.push_back(n / last.wall);
    cpu.push_back(n / last.cpu);
    if (last.result.delivery.lost != 0 || !last.result.delivery.in_order ||
        !last.result.delivery.bytes_identical) {
      std::cerr << "replay_bench: the replay did not deliver everything: its speed means nothing\n";
      return 1;
    }
  }
  const ReplayResult& r = last.result;
  const Memory memory{peak_rss_bytes(), r.proxy[0].custody_peak, r.proxy[1].held_peak,
                      static_cast<uint64_t>(r.span.peak_in_flight_bytes)};
  const nlohmann::ordered_json report = {{"bench", "replay"},
                                         {"packets", r.trace.packets},
                                         {"packets_per_second", median(wall)},
                                         {"packets_per_cpu_second", median(cpu)},
                                         {"runs", o.runs},
                                         {"peak_rss_bytes", memory.rss},
                                         {"custody_peak_bytes", memory.custody},
                                         {"destination_peak_bytes", memory.destination},
                                         {"in_flight_peak_bytes", memory.in_flight},
                                         {"besides_custody_bytes", memory.besides()}};
  if (o.json != "-") {
    Table t({{""}, {"", Table::Align::kRight}});
    t.add({"packets", thousands(r.trace.packets)});
    t.add({"packets/s (median of " + std::to_string(o.runs) + ")",
           thousands(static_cast<uint64_t>(median(wall)))});
    t.add({"packets per CPU second", thousands(static_cast<uint64_t>(median(cpu)))});
    print(memory, t);
    t.print(std::cout);
  }
  if (!o.json.empty()) or_die(write_json(report, o.json));
  if (o.memory && memory.besides() > Memory::kAllowed) {
    std::cerr << "replay_bench: more than " << thousands(Memory::kAllowed) << " bytes besides custody\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace matchrdma

int main(int argc, char** argv) {
  constexpr uint32_t kTwoGigabytes = 1'880'000;
  matchrdma::BenchOptions o;
  CLI::App app{"packets per second of a whole replay"};
  auto* packets =
      app.add_option("--packets", o.packets, "Requests in the trace (300000)")->check(CLI::Range(64, 1 << 30));
  auto* runs =
      app.add_option("--runs", o.runs, "Replays, of which the median counts (5)")->check(CLI::Range(1, 1000));
  app.add_flag("--memory", o.memory,
               "One replay of 2 GB, which fails when it needs more than 200 MB besides the packets in custody");
  app.add_option("--json", o.json,
                 "Also write the figures as JSON to this file; - is stdout, without the table");
  CLI11_PARSE(app, argc, argv);
  if (o.memory && packets->count() == 0) o.packets = kTwoGigabytes;
  if (o.memory && runs->count() == 0) o.runs = 1;
  return matchrdma::bench(o);
}
