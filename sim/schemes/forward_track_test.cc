#include "sim/schemes/forward_track.h"

#include <gtest/gtest.h>

namespace matchrdma::sim {
namespace {

constexpr SimSpan kRoundTrip = SimSpan::micros(100);

SimTime at_us(int64_t us) { return SimTime{} + SimSpan::micros(us); }

TEST(ForwardTrack, AsksOnceARoundTripForAGap) {
  ForwardTrack t(kRoundTrip);
  EXPECT_TRUE(t.on_data(0, at_us(0)).forward);
  ForwardTrack::Verdict v = t.on_data(2, at_us(1));
  EXPECT_FALSE(v.forward);
  EXPECT_TRUE(v.ask);
  EXPECT_EQ(t.expected(), 1);
  EXPECT_FALSE(t.on_data(3, at_us(2)).ask);
  EXPECT_TRUE(t.on_data(4, at_us(101)).ask);
  EXPECT_TRUE(t.on_data(1, at_us(102)).forward);
  EXPECT_TRUE(t.on_data(2, at_us(103)).forward);
  EXPECT_TRUE(t.on_data(4, at_us(104)).ask);  // another packet
}

TEST(ForwardTrack, RepeatsWhatTheReceiverMayHaveLost) {
  ForwardTrack t(kRoundTrip);
  for (int64_t i = 0; i < 4; ++i) EXPECT_TRUE(t.on_data(i, at_us(0)).forward);
  t.on_ack(2);
  EXPECT_TRUE(t.on_data(2, at_us(1)).forward);
  const ForwardTrack::Verdict v = t.on_data(1, at_us(1));
  EXPECT_FALSE(v.forward);
  EXPECT_TRUE(v.acknowledge);
  EXPECT_EQ(t.acknowledged(), 2);
  EXPECT_EQ(t.expected(), 4);
}

TEST(ForwardTrack, GoesBackToWhatTheReceiverNames) {
  ForwardTrack t(kRoundTrip);
  for (int64_t i = 0; i < 6; ++i) t.on_data(i, at_us(0));
  EXPECT_TRUE(t.on_nack(3, at_us(1)));
  EXPECT_EQ(t.acknowledged(), 3);
  EXPECT_EQ(t.expected(), 3);
  EXPECT_FALSE(t.on_data(6, at_us(2)).forward);  // the receiver would drop it
  EXPECT_FALSE(t.on_nack(3, at_us(3)));
  EXPECT_TRUE(t.on_data(3, at_us(4)).forward);
  t.on_ack(5);  // it had those
  EXPECT_EQ(t.expected(), 5);
  EXPECT_FALSE(t.on_nack(4, at_us(5)));  // old
  EXPECT_EQ(t.expected(), 5);
}

}  // namespace
}  // namespace matchrdma::sim
