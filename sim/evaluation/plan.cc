#include "sim/evaluation/plan.h"

#include <algorithm>

namespace matchrdma::sim {
namespace {

constexpr int64_t kKiB = 1024, kMiB = 1 << 20;

std::string size_text(int64_t bytes) {
  return bytes < kMiB ? std::to_string(bytes / kKiB) + " KiB" : std::to_string(bytes / kMiB) + " MiB";
}

/// Duty: writes the plan figure by figure.
class Planner {
 public:
  explicit Planner(bool quick) : quick_(quick), seeds_(quick ? 1 : 3) {}

  Plan make() {
    throughput();
    buffers();
    completion_times();
    loss();
    flap();
    iterations();
    concurrency();
    ablations();
    std::stable_sort(plan_.cases.begin(), plan_.cases.end(),
                     [](const Case& a, const Case& b) { return cost(a) > cost(b); });
    return std::move(plan_);
  }

 private:
  /// About, so that no long run starts last: virtual time, and real proxies cost most.
  static double cost(const Case& c) {
    const bool proxied = c.world.scheme == LongHaul::kMatchRdma;
    const double pairs = c.load.kind == LoadSpec::Kind::kLeafPairs ? 1 : 4;
    return (c.window.warm_up + c.window.length).us() * (proxied ? 3 : 1) * pairs;
  }
  std::vector<int64_t> distances() const {
    return quick_ ? std::vector<int64_t>{1, 100, 1000} : std::vector<int64_t>{1, 10, 100, 300, 1000};
  }

  /// For all seeds.
  void add(Case c) {
    for (uint64_t seed = 1; seed <= seeds_; ++seed) {
      c.world.seed = seed;
      plan_.cases.push_back(c);
    }
  }
  void add_schemes(Case c) {
    for (const LongHaul s : kLongHauls) {
      c.world.scheme = s;
      c.series = scheme_name(s);
      add(c);
    }
  }
  static Case steady(const std::string& figure, int64_t km, double x) {
    Case c;
    c.figure = figure;
    c.x = x;
    c.world.topology.km = km;
    c.window = Window::steady(km);
    return c;
  }

  void throughput() {
    for (const int64_t size : {4 * kKiB, 32 * kKiB, 128 * kKiB, 8 * kMiB}) {
      const std::string name = "throughput " + size_text(size);
      plan_.figures.push_back({name,
                               "Throughput over distance, messages of " + size_text(size) + ", 16 outstanding",
                               "distance, km", "delivered_gbps_per_pair", "delivered, Gb/s per pair"});
      for (const int64_t km : distances()) {
        Case c = steady(name, km, static_cast<double>(km));
        c.load = {.kind = LoadSpec::Kind::kLeafPairs, .loop = {.message_bytes = size, .outstanding = 16}};
        add_schemes(c);
      }
    }
  }

  // 128 MiB outstanding for each pair: as much as 1000 km hold.
  static LoadSpec heavy() { return {.loop = {.message_bytes = 8 * kMiB, .outstanding = 16}}; }

  void buffers() {
    plan_.figures.push_back(
        {"congestion", "Peak buffer of the destination OTN node", "distance, km", "otn_peak_mb", "peak, MB"});
    plan_.figures.push_back({"congestion", "99th percentile of the destination OTN node's buffer",
                             "distance, km", "otn_p99_mb", "99 % of the time at most, MB"});
    plan_.figures.push_back({"congestion",
                             "Peak of all that waits in switches and OTN node of the destination's site",
                             "distance, km", "site_peak_mb", "peak, MB"});
    plan_.figures.push_back({"congestion", "Time that ports stand still (PFC)", "distance, km", "paused",
                             "paused time / (ports x time)"});
    plan_.figures.push_back({"congestion", "Throughput of 16 pairs that share leaf and spine cables",
                             "distance, km", "delivered_gbps_per_pair", "delivered, Gb/s per pair"});
    for (const int64_t km : distances()) {
      Case c = steady("congestion", km, static_cast<double>(km));
      c.load = heavy();
      add_schemes(c);
      if (quick_) continue;
      for (const int64_t mb : {64, 256}) {
        c.world.otn_buffer_bytes = mb * 1'000'000;
        c.world.scheme = LongHaul::kDcqcn;
        c.series = "dcqcn, " + std::to_string(mb) + " MB";
        add(c);
      }
    }
  }

  void completion_times() {
    for (const int64_t km : quick_ ? std::vector<int64_t>{100} : std::vector<int64_t>{10, 100, 1000}) {
      const std::string name = "mixed " + std::to_string(km) + " km";
      const std::string title = "mixed traffic, " + std::to_string(km) + " km";
      plan_.figures.push_back({name, "Mean completion time between the sites, at the receiver: " + title,
                               "load, %", "inter_fct_receiver_us", "us", false});
      plan_.figures.push_back({name, "Mean completion time between the sites, at the sender: " + title,
                               "load, %", "inter_fct_sender_us", "us", false});
      plan_.figures.push_back({name, "Mean completion time within a site, at the receiver: " + title, "load, %",
                               "intra_fct_receiver_us", "us", false});
      for (const int load : quick_ ? std::vector<int>{50} : std::vector<int>{30, 50, 70}) {
        Case c = steady(name, km, load);
        c.load.kind = LoadSpec::Kind::kMixed;
        c.load.mixed.load = load / 100.0;
        c.window = {.length = SimSpan::micros(2'000'000), .to_the_end = true};
        add_schemes(c);
        c.series = "matchrdma, fixed budgets";
        c.world.proxy.estimator.reset();
        add(c);
      }
    }
  }

  void loss() {
    plan_.figures.push_back({"loss", "Throughput over frame loss of the long link, 300 km, messages of 1 MiB",
                             "loss, share of frames", "delivered_gbps_per_pair", "delivered, Gb/s per pair"});
    for (const double p : quick_ ? std::vector<double>{1e-4} : std::vector<double>{1e-6, 1e-5, 1e-4, 1e-3}) {
      Case c = steady("loss", 300, p);
      c.load = {.kind = LoadSpec::Kind::kLeafPairs, .loop = {.message_bytes = kMiB, .outstanding = 64}};
      c.world.topology.loss = p;
      add_schemes(c);
    }
  }

  void flap() {
    plan_.figures.push_back({"flap", "Throughput in 100 ms with the long link dark for a while, 300 km",
                             "dark, ms", "delivered_gbps_per_pair", "delivered, Gb/s per pair", false});
    for (const int64_t ms : quick_ ? std::vector<int64_t>{10} : std::vector<int64_t>{1, 10, 50}) {
      Case c = steady("flap", 300, static_cast<double>(ms));
      c.load = {.kind = LoadSpec::Kind::kLeafPairs, .loop = {.message_bytes = kMiB, .outstanding = 64}};
      c.window.length = SimSpan::micros(100'000);
      const SimTime dark = SimTime{} + c.window.warm_up + SimSpan::micros(30'000);
      c.world.topology.down = {{dark, dark + SimSpan::micros(ms * 1000)}};
      add_schemes(c);
    }
  }

  void iterations() {
    plan_.figures.push_back({"iterations", "LLaMA-7B on 2 x 16 ranks, all-reduce across the sites, volume / 64",
                             "distance, km", "iteration_ms", "iteration, ms"});
    for (const int64_t km : distances()) {
      Case c = steady("iterations", km, static_cast<double>(km));
      c.load.kind = LoadSpec::Kind::kIterations;
      c.load.iterations = {.pattern = Pattern::kMirror, .iterations = 4};
      c.window = {.length = SimSpan::micros(4'000'000), .to_the_end = true};
      add_schemes(c);
    }
    if (quick_) return;
    plan_.figures.push_back({"jitter", "The same at 300 km, jitter of computing", "jitter, %", "iteration_ms",
                             "iteration, ms", false});
    for (const int percent : {0, 5, 20, 30}) {
      Case c = steady("jitter", 300, percent);
      c.load.kind = LoadSpec::Kind::kIterations;
      c.load.iterations = {.pattern = Pattern::kMirror, .jitter = percent / 100.0, .iterations = 4};
      c.window = {.length = SimSpan::micros(4'000'000), .to_the_end = true};
      add_schemes(c);
    }
  }

  void concurrency() {
    plan_.figures.push_back({"concurrency", "Throughput over concurrency, 300 km, messages of 128 KiB",
                             "outstanding messages of a pair", "delivered_gbps_per_pair",
                             "delivered, Gb/s per pair"});
    for (const uint32_t n : quick_ ? std::vector<uint32_t>{1, 64} : std::vector<uint32_t>{1, 4, 16, 64}) {
      Case c = steady("concurrency", 300, n);
      c.load = {.kind = LoadSpec::Kind::kLeafPairs, .loop = {.message_bytes = 128 * kKiB, .outstanding = n}};
      add_schemes(c);
    }
  }

  void ablations() {
    plan_.figures.push_back({"ablations", "MatchRDMA without one of its parts: throughput of 16 pairs",
                             "distance, km", "delivered_gbps_per_pair", "delivered, Gb/s per pair"});
    plan_.figures.push_back({"ablations",
                             "MatchRDMA without one of its parts: peak of the destination OTN node",
                             "distance, km", "otn_peak_mb", "peak, MB"});
    for (const int64_t km : quick_ ? std::vector<int64_t>{100} : std::vector<int64_t>{10, 100, 300}) {
      Case c = steady("ablations", km, static_cast<double>(km));
      c.load = heavy();
      const auto with = [&](const char* series, const ProxySettings& p) {
        c.series = series;
        c.world.proxy = p;
        add(c);
      };
      with("whole", {});
      with("no gate", {.gate = false});
      with("last value", {.estimator = Scheme::kLast});
      with("paper's weights", {.estimator = Scheme::kPaper});
      with("no CNP proxy", {.cnp_proxy = false});
      with("end-to-end completion", {.completion = Completion::kEndToEnd});
    }
  }

  bool quick_;
  uint64_t seeds_;
  Plan plan_;
};

}  // namespace

Plan evaluation_plan(bool quick) { return Planner(quick).make(); }

}  // namespace matchrdma::sim
