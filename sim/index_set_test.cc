#include "sim/index_set.h"

#include <gtest/gtest.h>

#include <set>

#include "dataplane/base/prng.h"

namespace matchrdma::sim {
namespace {

TEST(IndexSet, GoesAroundAsASetDoes) {
  for (const uint32_t room : {1u, 63u, 64u, 65u, 200u}) {
    IndexSet s;
    s.resize(room);
    std::set<uint32_t> model;
    Prng prng(room);
    for (int i = 0; i < 2000; ++i) {
      const auto n = static_cast<uint32_t>(prng.below(room));
      const bool member = prng.chance(0.3);
      s.set(n, member);
      if (member) {
        model.insert(n);
      } else {
        model.erase(n);
      }
      ASSERT_EQ(s.size(), model.size());
      ASSERT_EQ(s.empty(), model.empty());
      if (model.empty()) continue;
      const auto from = static_cast<uint32_t>(prng.below(room));
      const auto next = model.upper_bound(from);
      ASSERT_EQ(s.next_after(from), next == model.end() ? *model.begin() : *next) << room << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace matchrdma::sim
