#include "pcap/seq_window.h"

#include <gtest/gtest.h>

namespace matchrdma {
namespace {

TEST(SeqWindow, FindsWithAndWithoutGaps) {
  SeqWindow<int> w;
  for (const Seq s : {10, 11, 12, 20, 21, 30}) w.at(s) = static_cast<int>(s);
  for (const Seq s : {10, 11, 12, 20, 21, 30}) {
    ASSERT_NE(w.find(s), nullptr) << s;
    EXPECT_EQ(*w.find(s), s);
  }
  for (const Seq s : {9, 13, 19, 22, 31}) EXPECT_EQ(w.find(s), nullptr) << s;
}

TEST(SeqWindow, InsertsInTheMiddleAndInFront) {
  SeqWindow<int> w;
  for (const Seq s : {10, 30, 20, 5, 25}) w.at(s) = static_cast<int>(s);
  EXPECT_EQ(w.size(), 5u);
  EXPECT_EQ(w.front().seq, 5);
  EXPECT_EQ(w.back().seq, 30);
  w.at(20) = 99;
  EXPECT_EQ(w.size(), 5u);
  EXPECT_EQ(*w.find(20), 99);
}

TEST(SeqWindow, AtOrBelow) {
  SeqWindow<int> w;
  EXPECT_EQ(w.at_or_below(1), nullptr);
  for (const Seq s : {10, 20}) w.at(s) = 1;
  EXPECT_EQ(w.at_or_below(9), nullptr);
  EXPECT_EQ(w.at_or_below(10)->seq, 10);
  EXPECT_EQ(w.at_or_below(19)->seq, 10);
  EXPECT_EQ(w.at_or_below(1000)->seq, 20);
}

TEST(PlacePsn, WrapsAndNumbersANewLifeAbove) {
  EXPECT_EQ(place_psn(Psn{0}, 0xffffff), 0x1000000);
  EXPECT_EQ(place_psn(Psn{0xfffffe}, 0x1000000), 0xfffffe);
  // Far back: the queue pair was used anew (C4).
  EXPECT_EQ(place_psn(Psn{100}, 0x600000), 0x1000000 + 100);
}

}  // namespace
}  // namespace matchrdma
