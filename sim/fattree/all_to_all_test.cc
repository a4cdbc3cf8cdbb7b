#include "sim/fattree/all_to_all.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace matchrdma::sim {
namespace {

TEST(AllToAll, HasTheLoadAndTheSizesOfTheFiles) {
  EXPECT_NEAR(mean_size(kAliStorage2019), 40'870, 5);
  for (const std::span<const SizeKnot> sizes : {std::span<const SizeKnot>(kAliStorage2019), {kSolar2022}}) {
    const AllToAllSettings s{.sizes = sizes, .load = 0.5, .duration = SimSpan::micros(20'000)};
    const std::vector<Arrival> all = draw_all_to_all(s);
    double bytes = 0;
    for (const Arrival& a : all) bytes += static_cast<double>(a.bytes);
    EXPECT_NEAR(bytes, 0.5 * 128 * 12.5e9 * 0.02, 0.03 * 0.5 * 128 * 12.5e9 * 0.02);
    for (size_t i = 0; i < sizes.size(); ++i) {
      const SizeKnot& k = sizes[i];
      if (i + 1 < sizes.size() && sizes[i + 1].bytes == k.bytes) continue;  // a jump has its upper share
      const auto below =
          std::count_if(all.begin(), all.end(), [&](const Arrival& a) { return a.bytes <= k.bytes; });
      EXPECT_NEAR(static_cast<double>(below) / static_cast<double>(all.size()), k.share, 0.005) << k.bytes;
    }
  }
}

TEST(AllToAll, EveryPairIsDrawnAndNobodySendsToItself) {
  const AllToAllSettings s{.sizes = kAliStorage2019, .hosts = 16, .duration = SimSpan::micros(20'000)};
  const std::vector<Arrival> all = draw_all_to_all(s);
  std::vector<int> of_pair(16 * 16);
  for (const Arrival& a : all) ++of_pair[a.source * 16 + a.destination];
  const double each = static_cast<double>(all.size()) / (16 * 15);
  for (uint32_t i = 0; i < of_pair.size(); ++i)
    EXPECT_NEAR(of_pair[i], i % 17 == 0 ? 0 : each, i % 17 == 0 ? 0 : 0.3 * each);
  EXPECT_TRUE(
      std::is_sorted(all.begin(), all.end(), [](const Arrival& a, const Arrival& b) { return a.at < b.at; }));
  EXPECT_EQ(all, draw_all_to_all(s));
  AllToAllSettings other = s;
  other.seed = 2;
  EXPECT_NE(all, draw_all_to_all(other));
}

}  // namespace
}  // namespace matchrdma::sim
