#include "proxy/plot_scale.h"

#include <gtest/gtest.h>

namespace matchrdma {
namespace {

std::string texts(const PlotScale& s) {
  std::string out;
  for (const PlotTick& t : s.ticks())
    if (!t.text.empty()) out += (out.empty() ? "" : " ") + t.text;
  return out;
}

TEST(PlotScale, LinearTicksAreRoundAndHoldAllValues) {
  EXPECT_EQ(texts(PlotScale::linear(0, 94.3, 6)), "0 20 40 60 80 100");
  EXPECT_EQ(texts(PlotScale::linear(30, 70, 8)), "30 35 40 45 50 55 60 65 70");
  EXPECT_EQ(texts(PlotScale::linear(0, 0.013, 6)), "0 0.0025 0.005 0.0075 0.01 0.0125 0.015");
  EXPECT_EQ(texts(PlotScale::linear(-3, 7, 5)), "-4 -2 0 2 4 6 8");
  EXPECT_EQ(texts(PlotScale::linear(0, 1e-5, 3)), "0 5e-6 1e-5");
}

TEST(PlotScale, OneValueHasAnAxisFromZero) {
  EXPECT_EQ(texts(PlotScale::linear(50, 50, 5)), "0 10 20 30 40 50");
  EXPECT_EQ(texts(PlotScale::linear(0, 0, 5)), "0 0.2 0.4 0.6 0.8 1");
  EXPECT_EQ(texts(PlotScale::linear(-10, -10, 2)), "-10 -5 0");
}

TEST(PlotScale, ManyDecadesHaveATickEach) {
  EXPECT_EQ(texts(PlotScale::logarithmic(1, 1000, 8)), "1 10 100 1000");
  EXPECT_EQ(texts(PlotScale::logarithmic(1e-6, 1e-3, 8)), "1e-6 1e-5 0.0001 0.001");
  EXPECT_EQ(texts(PlotScale::logarithmic(0.003, 94, 8)), "0.001 0.01 0.1 1 10 100");
  EXPECT_EQ(texts(PlotScale::logarithmic(1e-9, 1e7, 8)), "1e-9 1e-7 1e-5 0.001 0.1 10 1000 100000 1e7");
}

TEST(PlotScale, FewDecadesHaveOneTwoFive) {
  EXPECT_EQ(texts(PlotScale::logarithmic(10, 300, 8)), "10 20 50 100 200 500");
  EXPECT_EQ(texts(PlotScale::logarithmic(0.3, 0.9, 8)), "0.2 0.5 1");
  EXPECT_EQ(texts(PlotScale::logarithmic(100, 100, 8)), "50 100 200");
}

TEST(PlotScale, PlacesValuesBetweenItsEnds) {
  const PlotScale linear = PlotScale::linear(0, 100, 5), log = PlotScale::logarithmic(1, 1000, 8);
  EXPECT_DOUBLE_EQ(linear.place(25), 0.25);
  EXPECT_DOUBLE_EQ(linear.place(-1), 0);
  EXPECT_DOUBLE_EQ(linear.place(101), 1);
  EXPECT_DOUBLE_EQ(log.place(1), 0);
  EXPECT_NEAR(log.place(10), 1.0 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(log.place(0), 0);
  EXPECT_DOUBLE_EQ(log.place(-5), 0);
  EXPECT_DOUBLE_EQ(log.place(1e6), 1);
}

}  // namespace
}  // namespace matchrdma
