// Credits of the AETH (H20; IBA 9.7.7.2, table 43).
#include "dataplane/source/credits.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace matchrdma {
namespace {

TEST(Credits, CodeNeverPromisesMoreThanTheCount) {
  for (int64_t count = -5; count < 40000; ++count) {
    const uint8_t code = code_of(count);
    ASSERT_LE(code, 30);
    ASSERT_LE(credits_of(code), std::max<int64_t>(count, 0));
    if (code == 30) continue;
    ASSERT_GT(credits_of(static_cast<uint8_t>(code + 1)), count);
  }
  EXPECT_EQ(credits_of(31), -1);
  EXPECT_EQ(credits_of(5), 6);
  EXPECT_EQ(credits_of(30), 32768);
}

TEST(Credits, WhatWasAcknowledgedAheadUsesUpTheGrant) {
  SourceFlow::Pools pools{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {}};
  SourceFlow f(pools);
  EXPECT_EQ(ack_credits(f, 3), 31);  // a flow without credits never starts to use them
  f.credits_used = true;
  f.msn_at_base = 10;
  EXPECT_EQ(ack_credits(f, 12), 0);  // the receiver granted nothing yet
  f.msn_real = 12;
  f.credit_code = 6;  // eight credits
  EXPECT_EQ(ack_credits(f, 12), 6);
  EXPECT_EQ(ack_credits(f, 14), 5);  // six are left
  EXPECT_EQ(ack_credits(f, 15), 4);  // five are left; code 4 says four
  EXPECT_EQ(ack_credits(f, 30), 0);
}

}  // namespace
}  // namespace matchrdma
