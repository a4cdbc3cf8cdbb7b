// Cases without congestion against the field's reference code (SIMULATOR 9): two switches, one 100 Gb/s long
// link.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "sim/test_reference.h"

namespace matchrdma::sim {
namespace {

struct Row {
  int64_t bytes;
  uint32_t qps;
  int64_t km;
  double gbps;
  double fct_us;  ///< 0: not given
};

const Row kOneQp[] = {
    {4 << 10, 1, 1, 2.257, 14.5},   {4 << 10, 1, 100, 0.033, 1004.5},   {4 << 10, 1, 1000, 0.0033, 10004.5},
    {32 << 10, 1, 1, 15.51, 16.9},  {32 << 10, 1, 100, 0.260, 1006.9},  {32 << 10, 1, 1000, 0.026, 10006.9},
    {128 << 10, 1, 1, 41.84, 25.1}, {128 << 10, 1, 100, 1.033, 1015.1}, {128 << 10, 1, 1000, 0.105, 10015.1},
    {8 << 20, 1, 1, 94.46, 710.4},  {8 << 20, 1, 100, 39.47, 1700.4},   {8 << 20, 1, 1000, 6.272, 10700.4},
};
const Row kManyQps[] = {
    {4 << 10, 64, 1, 58.0, 0},   {4 << 10, 64, 100, 2.04, 0},   {4 << 10, 64, 1000, 0.209, 0},
    {128 << 10, 64, 1, 94.4, 0}, {128 << 10, 64, 100, 39.5, 0}, {128 << 10, 64, 1000, 6.27, 0},
    {8 << 20, 16, 1, 96.3, 0},   {8 << 20, 16, 100, 88.4, 0},   {8 << 20, 16, 1000, 50.8, 0},
};

ReferenceResult run(const Row& row, Tick tick) {
  ReferenceRun r({.km = row.km, .tick = tick});
  const uint32_t port = r.long_port();
  return r.run(std::vector<ReferenceFlow>(row.qps, {0, 1, row.bytes}), ReferenceRun::kNear, port);
}

std::string name(const Row& row) {
  return std::to_string(row.bytes) + " B x" + std::to_string(row.qps) + ", " + std::to_string(row.km) + " km";
}

double percent_off(double got, double reference) { return 100 * (got / reference - 1); }

TEST(ReferenceAlone, OneQpWithinItsTruncation) {
  for (const Row& row : kOneQp) {
    const ReferenceResult r = run(row, Tick{1});
    std::printf("%-24s %9.2f us (reference %9.1f, %+.2f %%) %8.4f Gb/s (%.4f)\n", name(row).c_str(),
                r.fct_us[0], row.fct_us, percent_off(r.fct_us[0], row.fct_us), r.goodput_gbps, row.gbps);
    EXPECT_NEAR(percent_off(r.fct_us[0], row.fct_us), 0, 1.2) << name(row);
  }
}

TEST(ReferenceAlone, OneQpAtTheirTickIsEqual) {
  for (const Row& row : kOneQp) {
    const ReferenceResult r = run(row, kHpccTick);
    std::printf("%-24s %9.3f us (reference %9.1f)\n", name(row).c_str(), r.fct_us[0], row.fct_us);
    EXPECT_DOUBLE_EQ(std::round(r.fct_us[0] * 10) / 10, row.fct_us) << name(row) << ": " << r.fct_us[0];
  }
}

TEST(ReferenceAlone, ManyQps) {
  for (const Row& row : kManyQps) {
    const ReferenceResult r = run(row, Tick{1});
    std::printf("%-24s %8.4f Gb/s (reference %8.4f, %+.2f %%)\n", name(row).c_str(), r.goodput_gbps, row.gbps,
                percent_off(r.goodput_gbps, row.gbps));
    EXPECT_NEAR(percent_off(r.goodput_gbps, row.gbps), 0, 3) << name(row);
  }
}

}  // namespace
}  // namespace matchrdma::sim
