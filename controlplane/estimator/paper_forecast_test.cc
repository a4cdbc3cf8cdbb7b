#include "controlplane/estimator/paper_forecast.h"

#include <gtest/gtest.h>

#include <memory>

namespace matchrdma {
namespace {

const Scale kScale{EstimatorSettings{}};

class PaperTest : public ::testing::Test {
 protected:
  void feed(int slots, double rate, CongestionLevel level = CongestionLevel::kLow) {
    for (int i = 0; i < slots; ++i) paper_->observe({.acked = rate}, {.backlog_bytes = 1}, level);
  }
  std::unique_ptr<PaperForecast> paper_ = std::make_unique<PaperForecast>(kScale, 50);
};

TEST_F(PaperTest, StartsWithWhatItIsGiven) { EXPECT_EQ(paper_->at(5), 50); }

TEST_F(PaperTest, CongestedSlotsCountLess) {
  feed(300, 80, CongestionLevel::kHigh);
  EXPECT_NEAR(paper_->at(5), 56, 0.01);
  feed(300, 80, CongestionLevel::kModerate);
  EXPECT_NEAR(paper_->at(5), 72, 0.01);
  feed(300, 80, CongestionLevel::kLow);
  EXPECT_NEAR(paper_->at(5), 80, 0.01);
}

TEST_F(PaperTest, StableSlotsOutweighJitter) {
  feed(125, 80);
  for (int i = 0; i < 125; ++i) feed(1, i % 2 == 0 ? 20 : 40);  // no two alike
  // 118 stable ones of 80 (the window's first seven are jitter), 132 of jitter.
  const double stable = 0.6 * 118, jitter = 0.15 * 132;
  const double expected = (stable * 80 + 0.15 * (7 * 80 + 63 * 20 + 62 * 40)) / (stable + jitter);
  EXPECT_NEAR(paper_->at(5), expected, 0.01);
}

TEST_F(PaperTest, FourPeriodsCannotOutvote250Slots) {
  for (int i = 0; i < 9000; ++i) feed(1, i % 250 < 125 ? 90 : 30);
  EXPECT_NEAR(paper_->period(), 250, 2);
  EXPECT_NEAR(paper_->at(60), 60, 5) << "whatever is to come: this is why weights are earned";
}

TEST_F(PaperTest, AnEmptyQueueSaysNothing) {
  feed(300, 80);
  for (int i = 0; i < 300; ++i) paper_->observe({.acked = 10}, {}, CongestionLevel::kLow);
  EXPECT_NEAR(paper_->at(1), 80, 1);
}

}  // namespace
}  // namespace matchrdma
