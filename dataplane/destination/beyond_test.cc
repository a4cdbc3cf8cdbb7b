// Packets behind a hole and the ranges that they make.
#include "dataplane/destination/beyond.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "dataplane/base/prng.h"
#include "model/packet_arena.h"

namespace matchrdma {
namespace {

using Ranges = std::vector<std::pair<Seq, Seq>>;

struct BeyondTest : ::testing::Test {
  model::PacketArena arena;
  NodePool nodes;
  Beyond beyond{&nodes};
  bool add(Seq psn, Seq end) { return beyond.add(psn, end, arena.alloc(100)); }
  Ranges ranges() const { return {beyond.ranges().begin(), beyond.ranges().end()}; }
};

TEST_F(BeyondTest, NeighboursAreOneRange) {
  EXPECT_TRUE(add(10, 11));
  EXPECT_TRUE(add(11, 12));
  EXPECT_TRUE(add(14, 20));  // a READ request
  EXPECT_EQ(ranges(), (Ranges{{10, 12}, {14, 20}}));
  EXPECT_TRUE(add(12, 14));
  EXPECT_EQ(ranges(), (Ranges{{10, 20}}));
  EXPECT_FALSE(add(14, 20));
  EXPECT_EQ(beyond.bytes(), 400u);
}

TEST_F(BeyondTest, TheNewestGivesWay) {
  for (const Seq psn : {5, 6, 9}) add(psn, psn + 1);
  EXPECT_EQ(beyond.drop_last(), 100u);
  EXPECT_EQ(ranges(), (Ranges{{5, 7}}));
  beyond.drop_last();
  EXPECT_EQ(ranges(), (Ranges{{5, 6}}));
  EXPECT_EQ(beyond.bytes(), 100u);
}

// Against a plain list of PSNs.
TEST_F(BeyondTest, RangesAreThoseOfThePackets) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Prng prng(seed);
    beyond.clear();
    std::map<Seq, bool> model;
    for (int step = 0; step < 400; ++step) {
      const int64_t what = prng.between(0, 9);
      if (what < 7) {
        const Seq psn = prng.between(0, 120);
        EXPECT_EQ(add(psn, psn + 1), model.try_emplace(psn, true).second);
      } else if (what == 7 && !model.empty()) {
        beyond.drop_last();
        model.erase(std::prev(model.end()));
      } else if (what == 8 && !model.empty()) {
        EXPECT_EQ(beyond.first(), model.begin()->first);
        beyond.pop_first();
        model.erase(model.begin());
        beyond.forget_taken();
      }
      Ranges expected;
      for (const auto& [psn, here] : model) {
        if (!expected.empty() && expected.back().second == psn) {
          ++expected.back().second;
        } else {
          expected.push_back({psn, psn + 1});
        }
      }
      ASSERT_EQ(ranges(), expected) << "seed " << seed << " step " << step;
      ASSERT_EQ(beyond.bytes(), model.size() * 100);
    }
  }
}

}  // namespace
}  // namespace matchrdma
