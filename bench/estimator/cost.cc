#include "bench/estimator/cost.h"

#include <algorithm>
#include <ctime>
#include <limits>

#include "bench/estimator/closed_loop.h"
#include "controlplane/estimator/estimator.h"

namespace matchrdma::estimator_bench {
namespace {

constexpr Duration kFar = Duration::millis(5);  // h = 51
constexpr uint32_t kGroups = 10;
constexpr int kRuns = 5;
constexpr size_t kFirstCounted = 8192;  // slots: the memory is full

/// Keeps what a contender was told.
class Recorder : public Contender {
 public:
  explicit Recorder(Duration one_way)
      : inner_(make_contender(ContenderKind::kEarned, EstimatorSettings{}.slot, one_way)) {}
  Decision close(int64_t slot, const SlotRecord& r, std::span<const double> truth) override {
    records.push_back(r);
    return inner_->close(slot, r, truth);
  }
  bool tighten(const SlotRecord&, Duration, double&) override { return false; }
  std::vector<SlotRecord> records;

 private:
  std::unique_ptr<Contender> inner_;
};

std::vector<SlotRecord> records_of(const Series& series) {
  Recorder recorder(kFar);
  run_loop(series, {.one_way = kFar}, recorder);
  return recorder.records;
}

/// Processor time of this thread: what others do meanwhile does not count.
double now_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/// ns per slot of one group, its record included, once the memory is full.
double mean_slot(const std::vector<SlotRecord>& records) {
  double least = std::numeric_limits<double>::max();
  for (int run = 0; run < kRuns; ++run) {
    Estimator e(EstimatorSettings{}, 1);
    e.place(0, {.port = 0, .weight = 1, .one_way = kFar});
    double start = 0;
    for (size_t slot = 0; slot < records.size(); ++slot) {
      if (slot == kFirstCounted) start = now_ns();
      e.record(0, records[slot]);
      e.close(static_cast<int64_t>(slot));
    }
    least = std::min(least, (now_ns() - start) / static_cast<double>(records.size() - kFirstCounted));
  }
  return least;
}

/// ns of the longest close. All groups hear the same, so that their searches fall into the same slots.
double worst_slot(const std::vector<SlotRecord>& records) {
  std::vector<double> least(records.size(), std::numeric_limits<double>::max());
  for (int run = 0; run < kRuns; ++run) {
    Estimator e(EstimatorSettings{}, kGroups);
    for (uint32_t g = 0; g < kGroups; ++g) e.place(g, {.port = g, .weight = 1, .one_way = kFar});
    for (size_t slot = 0; slot < records.size(); ++slot) {
      for (uint32_t g = 0; g < kGroups; ++g) e.record(g, records[slot]);
      const double start = now_ns();
      e.close(static_cast<int64_t>(slot));
      least[slot] = std::min(least[slot], now_ns() - start);
    }
  }
  return *std::max_element(least.begin() + kFirstCounted, least.end());
}

double ns_per_idle_group() {
  constexpr uint32_t kIdle = 4096;
  constexpr int64_t kSlots = 20'000;
  double least = std::numeric_limits<double>::max();
  for (int run = 0; run < kRuns; ++run) {
    Estimator e(EstimatorSettings{}, kIdle);
    const double start = now_ns();
    for (int64_t slot = 0; slot < kSlots; ++slot) e.close(slot);
    least = std::min(least, (now_ns() - start) / kSlots / kIdle);
  }
  return least;
}

const Row& row(const char* name) {
  return *std::find_if(rows().begin(), rows().end(), [&](const Row& r) { return r.name == name; });
}

}  // namespace

std::vector<CostRow> measure_cost() {
  const std::vector<SlotRecord> constant = records_of(row("constant 60").make(1).front());
  const std::vector<SlotRecord> noise = records_of(row("level noise 30 %, every 1 ms").make(1).front());
  const std::vector<SlotRecord> square = records_of(row("square 50 ms, jitter 10 %").make(1).front());
  const std::vector<SlotRecord> slow = records_of(row("square 100/5, 100 ms").make(1).front());
  std::vector<CostRow> out;
  const auto add = [&](const char* what, double got, double allowed, const char* unit) {
    out.push_back({what, got, allowed, unit});
  };
  add("idle group, per slot", ns_per_idle_group(), 1, "ns");
  add("active, no period, per slot", mean_slot(constant), 1000, "ns");
  add("active, no period but looked for, per slot", mean_slot(noise), 1000, "ns");
  add("active, period of 50 ms, h = 51, per slot", mean_slot(square), 10'000, "ns");
  add("active, period of 100 ms, h = 51, per slot", mean_slot(slow), 10'000, "ns");
  const double half_slot = static_cast<double>(EstimatorSettings{}.slot.ns) / 2;
  add("10 groups with periods of 50 ms, worst slot", worst_slot(square), half_slot, "ns");
  add("10 groups with periods of 100 ms, worst slot", worst_slot(slow), half_slot, "ns");
  add("memory of an active group", sizeof(GroupEstimator), 512 * 1024, "bytes");
  return out;
}

}  // namespace matchrdma::estimator_bench
