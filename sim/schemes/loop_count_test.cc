#include "sim/schemes/loop_count.h"

#include <gtest/gtest.h>

#include <vector>

namespace matchrdma::sim {
namespace {

SimTime at_us(int64_t us) { return SimTime{} + SimSpan::micros(us); }

std::vector<uint32_t> after_each(LoopCount& c, int64_t cnps) {
  std::vector<uint32_t> all;
  for (int64_t i = 0; i < cnps; ++i) {
    c.on_cnp(at_us(i));
    all.push_back(c.passes(0));
  }
  return all;
}

TEST(LoopCount, GrowsByStepsThatGrow) {
  LoopCount head{ThemisSettings{}};
  EXPECT_EQ(head.passes(0), 0u);
  EXPECT_EQ(after_each(head, 13), (std::vector<uint32_t>{2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4}));
  LoopCount ton{ThemisSettings::ton()};
  EXPECT_EQ(after_each(ton, 8), (std::vector<uint32_t>{2, 3, 3, 4, 4, 4, 5, 5}));
}

TEST(LoopCount, CnpsAtOnceCountOnce) {
  LoopCount c{ThemisSettings::ton()};
  c.on_cnp(at_us(1));
  c.on_cnp(at_us(1) + SimSpan{999});
  EXPECT_EQ(c.passes(0), 2u);
  c.on_cnp(at_us(1) + SimSpan{1000});
  EXPECT_EQ(c.passes(0), 3u);
}

TEST(LoopCount, RecoversWithoutCnps) {
  LoopCount head{ThemisSettings{}}, ton{ThemisSettings::ton()};
  EXPECT_TRUE(head.recovers_at().is_never());
  after_each(head, 12);
  EXPECT_EQ(head.step(), 7u);
  EXPECT_EQ(head.recovers_at(), at_us(511));
  EXPECT_FALSE(head.recover(at_us(510)));
  EXPECT_TRUE(head.recover(at_us(511)));
  EXPECT_EQ(head.passes(0), 0u);
  EXPECT_EQ(head.step(), 3u);
  EXPECT_FALSE(head.recover(at_us(2000)));
  head.on_cnp(at_us(3000));
  EXPECT_EQ(head.passes(0), 2u);

  after_each(ton, 12);
  EXPECT_EQ(ton.recovers_at(), at_us(5011));
  EXPECT_TRUE(ton.recover(at_us(5011)));
  EXPECT_EQ(ton.step(), 1u);
}

TEST(LoopCount, IsCappedByWhatLoops) {
  ThemisSettings s = ThemisSettings::ton();
  s.most_loops = 4;
  LoopCount c{s};
  after_each(c, 100);
  EXPECT_EQ(c.passes(0), 4u);
  EXPECT_EQ(c.passes(127), 4u);
  EXPECT_EQ(c.passes(128), 3u);
  EXPECT_EQ(c.passes(100'000), 0u);
}

}  // namespace
}  // namespace matchrdma::sim
