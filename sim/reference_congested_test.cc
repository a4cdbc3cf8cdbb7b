// Congested cases against single runs of the field's reference code (SIMULATOR 10).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "sim/test_reference.h"

namespace matchrdma::sim {
namespace {

constexpr int64_t kBytes = 8 << 20;
constexpr uint32_t kQps = 4;  ///< of each host
constexpr double kFctPercent = 3, kQueuePercent = 5;

struct Range {
  double least = 1e300, most = -1e300, sum = 0;
  int n = 0;
  void add(double v) {
    least = std::min(least, v);
    most = std::max(most, v);
    sum += v;
    ++n;
  }
  double mean() const { return sum / n; }
};

/// A reference is one run, a draw from what chance allows, and so is each of our seeds: it must lie within the
/// range of our seeds, widened by the tolerance.
void expect_reached(const char* what, const std::string& name, const Range& ours, double reference,
                    double percent) {
  std::printf("%-28s %-10s reference %9.1f  ours %9.1f (%.1f to %.1f), mean %+.1f %%\n", name.c_str(), what,
              reference, ours.mean(), ours.least, ours.most,
              reference == 0 ? 0.0 : 100 * (ours.mean() / reference - 1));
  EXPECT_LE(ours.least * (1 - percent / 100), reference) << name << ": " << what;
  EXPECT_GE(ours.most * (1 + percent / 100), reference) << name << ": " << what;
}

struct NearRow {
  const char* preset;
  int64_t km, buffer_mib;
  double fct_us, goodput, queue_kb, pauses;
};

const NearRow kNearSource[] = {
    {"dcqcn", 1, 32, 12305, 84.5, 4067, 0},       {"dcqcn", 100, 32, 17494, 58.7, 4974, 2055},
    {"dcqcn", 1000, 32, 21144, 50.8, 105494, 0},  {"dcqcn", 1000, 300, 21144, 50.8, 42396, 2204},
    {"dcqcn_paper", 1, 32, 10395, 91.6, 7957, 0}, {"dcqcn_paper", 100, 32, 16159, 65.9, 4974, 2154},
    {"themis", 1, 32, 11174, 87.6, 2018, 0},      {"themis", 100, 32, 22707, 46.8, 4975, 2098},
};

ReferenceSetup near_setup(const NearRow& row) {
  const std::string preset = row.preset;
  ReferenceSetup s;
  s.tick = Tick{1000};
  s.km = row.km;
  s.near_hosts = s.far_hosts = 4;
  s.buffer_bytes = row.buffer_mib << 20;
  if (preset == "dcqcn_paper") s.reaction = ReactionSettings::hpcc_paper();
  if (preset == "themis") s.reaction = ReactionSettings::themis();
  s.windows = preset == "themis";
  return s;
}

TEST(ReferenceCongested, NearTheSource) {
  for (const NearRow& row : kNearSource) {
    ReferenceSetup s = near_setup(row);
    const std::string name = std::string(row.preset) + " " + std::to_string(row.km) + " km, " +
                             std::to_string(row.buffer_mib) + " MiB";
    Range fct, goodput, queue, pauses;
    for (s.seed = 1; s.seed <= 8; ++s.seed) {
      std::vector<ReferenceFlow> flows;
      for (uint32_t h = 0; h < 4; ++h) flows.insert(flows.end(), kQps, {h, 4 + h, kBytes});
      ReferenceRun run(s);
      const ReferenceResult r = run.run(flows, ReferenceRun::kNear, run.long_port());
      fct.add(r.mean_fct_us(0, flows.size()));
      goodput.add(r.goodput_gbps);
      queue.add(static_cast<double>(r.peak_queue_bytes) / 1e3);
      pauses.add(static_cast<double>(r.pauses));
      EXPECT_EQ(r.drops, 0u) << name;
    }
    expect_reached("FCT us", name, fct, row.fct_us, kFctPercent);
    expect_reached("Gb/s", name, goodput, row.goodput, kFctPercent);
    expect_reached("queue KB", name, queue, row.queue_kb, kQueuePercent);
    expect_reached("PAUSEs", name, pauses, row.pauses, kQueuePercent);
  }
}

struct FarRow {
  int64_t km;
  double remote_us, local_us, goodput, queue_kb;
};

const FarRow kNearDestination[] = {
    {1, 14780, 15153, 84.4, 6674}, {100, 14487, 14901, 86.7, 47567}, {1000, 21301, 14175, 63.0, 107483}};

TEST(ReferenceCongested, NearTheDestination) {
  for (const FarRow& row : kNearDestination) {
    constexpr uint32_t kRemote = 4, kLocal = 4, kReceiver = 5;
    constexpr uint32_t kReceiverPort = 2;  // of the far switch: long link, local host, receiver
    ReferenceSetup s;
    s.tick = Tick{1000};
    s.km = row.km;
    s.near_hosts = kRemote;
    s.far_hosts = 2;
    s.long_rate = Rate{400'000'000'000};
    const std::string name = "dcqcn " + std::to_string(row.km) + " km";
    Range remote, local, goodput, queue;
    for (s.seed = 1; s.seed <= 8; ++s.seed) {
      std::vector<ReferenceFlow> flows;
      for (uint32_t h = 0; h <= kLocal; ++h)
        flows.insert(flows.end(), kQps,
                     {h, kReceiver, kBytes, h == kLocal ? SimTime{} + fibre(row.km) : SimTime{}});
      ReferenceRun run(s);
      const ReferenceResult r = run.run(flows, ReferenceRun::kFar, kReceiverPort);
      remote.add(r.mean_fct_us(0, kRemote * kQps));
      local.add(r.mean_fct_us(kRemote * kQps, flows.size()));
      goodput.add(r.goodput_gbps);
      queue.add(static_cast<double>(r.peak_queue_bytes) / 1e3);
      EXPECT_EQ(r.drops, 0u) << name;
    }
    expect_reached("remote us", name, remote, row.remote_us, kFctPercent);
    expect_reached("local us", name, local, row.local_us, kFctPercent);
    expect_reached("Gb/s", name, goodput, row.goodput, kFctPercent);
    expect_reached("queue KB", name, queue, row.queue_kb, kQueuePercent);
  }
}

}  // namespace
}  // namespace matchrdma::sim
