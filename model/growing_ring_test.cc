#include "model/growing_ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "dataplane/base/prng.h"

namespace matchrdma::model {
namespace {

TEST(GrowingRing, DoesWhatADequeDoes) {
  Prng prng(1);
  GrowingRing<uint64_t> ring;
  std::deque<uint64_t> deque;
  for (uint64_t i = 0; i < 20'000; ++i) {
    const uint64_t what = prng.below(8);
    if (what < 3 && !deque.empty()) {
      ring.pop_front();
      deque.pop_front();
    } else if (what == 3) {
      const size_t place = prng.below(deque.size() + 1);
      ring.insert(place, i);
      deque.insert(deque.begin() + static_cast<std::ptrdiff_t>(place), i);
    } else {
      ring.push_back(i);
      deque.push_back(i);
    }
    ASSERT_EQ(ring.size(), deque.size());
    if (deque.empty()) continue;
    const size_t place = prng.below(deque.size());
    ASSERT_EQ(ring[place], deque[place]);
    ASSERT_EQ(ring.front(), deque.front());
    ASSERT_EQ(ring.back(), deque.back());
  }
}

TEST(GrowingRing, WhatIsTakenOutIsGone) {
  const auto shared = std::make_shared<int>(1);
  GrowingRing<std::shared_ptr<int>> ring;
  for (int i = 0; i < 3; ++i) ring.push_back(shared);
  ring.pop_front();
  EXPECT_EQ(shared.use_count(), 3);
}

}  // namespace
}  // namespace matchrdma::model
