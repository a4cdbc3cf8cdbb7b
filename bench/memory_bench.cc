// What a malloc and a free cost in the registered heap, beside jemalloc of the same version and mimalloc, in
// the shapes of ByteExpress: CPU time, in rounds in which all take turns. Exit code 1: the heap is more than 5
// % slower than jemalloc.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <vector>

#include "bench/memory/contenders.h"
#include "bench/memory/crew.h"
#include "bench/memory/shapes.h"
#include "bench/statistics.h"
#include "proxy/json_output.h"
#include "proxy/table.h"

namespace matchrdma::memory_bench {
namespace {

constexpr double kAim = 1.05;

enum Who : size_t { kHeap, kJemalloc, kKeeping, kMimalloc, kWhos };
constexpr std::array<const char*, kWhos> kNames{"registered heap", "jemalloc", "jemalloc, never purging",
                                                "mimalloc"};

struct Contenders {
  NoDevice device;
  std::unique_ptr<host::RegisteredHeap> heap;
  std::array<LoadedAllocator, kWhos> loaded;
};

Result<void> gather(Contenders& c) {
  auto heap = host::RegisteredHeap::create(c.device, {size_t{4} << 30, 0});
  if (!heap) return Error{heap.error()};
  c.heap = std::move(*heap);
  auto jemalloc = load("libjemalloc.so.2", "malloc", "free");
  if (!jemalloc) return Error{jemalloc.error()};
  auto keeping = load_copy(*jemalloc, "dirty_decay_ms:-1,muzzy_decay_ms:-1", "malloc", "free");
  if (!keeping) return Error{keeping.error()};
  auto mimalloc = load("libmimalloc.so.2", "mi_malloc", "mi_free");
  if (!mimalloc) return Error{mimalloc.error()};
  c.loaded[kJemalloc] = *jemalloc;
  c.loaded[kKeeping] = *keeping;
  c.loaded[kMimalloc] = *mimalloc;
  return {};
}

struct Measured {
  std::array<std::vector<double>, kWhos> ns;
  size_t live = 0, registered = 0;  ///< bytes
};

/// Who begins changes from round to round; the first round warms everything up.
Measured measure(Contenders& c, const Shape& shape, unsigned threads, int rounds) {
  Crew crew(shape, threads);
  Measured m;
  for (int round = 0; round <= rounds; ++round) {
    for (size_t i = 0; i < kWhos; ++i) {
      const size_t who = (i + static_cast<size_t>(round)) % kWhos;
      const double v = who == kHeap ? crew.turn(*c.heap) : crew.turn(c.loaded[who]);
      if (round > 0) m.ns[who].push_back(v);
    }
  }
  m.live = crew.live_bytes();
  m.registered = c.heap->stats().registered;
  c.heap->trim();
  return m;
}

double ratio(const Measured& m, Who to) {
  std::vector<double> r;
  for (size_t i = 0; i < m.ns[to].size(); ++i) r.push_back(m.ns[kHeap][i] / m.ns[to][i]);
  return median(r);
}

/// Duty: gathers the lines for people and for machines.
class Report {
 public:
  Report() : table_(headings()) {}

  void line(const Shape& shape, unsigned threads, const Measured& m) {
    std::vector<std::string> cells{shape.name, std::to_string(threads)};
    nlohmann::ordered_json row{{"sizes", shape.name}, {"threads", threads}};
    for (size_t who = 0; who < kWhos; ++who) {
      cells.push_back(decimal(median(m.ns[who]), 1));
      row[std::string(kNames[who]) + " ns"] = median(m.ns[who]);
    }
    for (const Who to : {kJemalloc, kKeeping, kMimalloc}) {
      cells.push_back(decimal(ratio(m, to), 3));
      row[std::string("heap / ") + kNames[to]] = ratio(m, to);
    }
    cells.push_back(std::to_string(m.live >> 20));
    cells.push_back(std::to_string(m.registered >> 20));
    row["live_bytes"] = m.live;
    row["registered_bytes"] = m.registered;
    table_.add(cells);
    json_.push_back(row);
    missed_ |= ratio(m, kJemalloc) > kAim;
  }
  void print(int rounds) const {
    std::cout
        << "CPU time of one free and one allocation; medians of " << rounds
        << " rounds in which all take turns, ratios of each round;\none free in ten is another thread's\n\n";
    table_.print(std::cout);
    std::cout << "\nwithin " << decimal((kAim - 1) * 100, 0)
              << " % of jemalloc: " << (missed_ ? "MISSED" : "yes") << '\n';
  }
  bool missed() const { return missed_; }
  const nlohmann::ordered_json& json() const { return json_; }

 private:
  static std::vector<Table::Column> headings() {
    using Align = Table::Align;
    return {{"sizes"},
            {"threads", Align::kRight},
            {"heap ns", Align::kRight},
            {"jemalloc ns", Align::kRight},
            {"not purging ns", Align::kRight},
            {"mimalloc ns", Align::kRight},
            {"heap/jemalloc", Align::kRight},
            {"/not purging", Align::kRight},
            {"/mimalloc", Align::kRight},
            {"held MiB", Align::kRight},
            {"registered MiB", Align::kRight}};
  }
  Table table_;
  nlohmann::ordered_json json_ = nlohmann::ordered_json::array();
  bool missed_ = false;
};

int run(int rounds, const std::vector<unsigned>& crews, const std::string& json) {
  Contenders contenders;
  if (const auto r = gather(contenders); !r) {
    std::cerr << "memory_bench: " << r.error() << '\n';
    return 1;
  }
  Report report;
  for (const Shape& shape : shapes()) {
    for (const unsigned threads : crews)
      report.line(shape, threads, measure(contenders, shape, threads, rounds));
  }
  report.print(rounds);
  if (json.empty()) return report.missed() ? 1 : 0;
  if (const auto r = write_json(report.json(), json); !r) {
    std::cerr << "memory_bench: " << r.error() << '\n';
    return 1;
  }
  return report.missed() ? 1 : 0;
}

}  // namespace
}  // namespace matchrdma::memory_bench

int main(int argc, char** argv) {
  matchrdma::memory_bench::make_room_for_tls(argv);
  CLI::App app{"The registered heap beside jemalloc and mimalloc"};
  int rounds = 31;
  std::vector<unsigned> threads{1, 2, 4};
  std::string json;
  app.add_option("--rounds", rounds, "in which all take turns")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--threads", threads, "how many at once")->check(CLI::Range(1, 64))->capture_default_str();
  app.add_option("--json", json, "FILE or -");
  CLI11_PARSE(app, argc, argv);
  return matchrdma::memory_bench::run(rounds, threads, json);
}
