#include "dataplane/flow/slot_record.h"

#include <gtest/gtest.h>

#include <limits>

#include "dataplane/base/prng.h"

namespace matchrdma {
namespace {

SlotRecord any_record(Prng& p) {
  SlotRecord r;
  const auto count = [&] { return p.chance(0.1) ? p.next() : p.below(100'000); };
  r.arrived_bytes = count();
  r.acked_bytes = count();
  r.egress_bytes = count();
  r.backlog_bytes = count();
  r.packets = count();
  r.cnp_count = count();
  r.busy_ns = count();
  r.busy_acked_bytes = count();
  for (uint64_t n = p.below(3); n > 0; --n) {
    r.ack_delay.add(Duration::nanos(p.between(0, 5)), Instant{p.between(0, 3)});
  }
  return r;
}

TEST(SlotRecord, MergingIsAssociativeAndCommutative) {
  Prng p(1);
  for (int i = 0; i < 2000; ++i) {
    const SlotRecord a = any_record(p), b = any_record(p), c = any_record(p);
    SlotRecord left = a, right = b, swapped = c;
    left.merge(b);
    left.merge(c);
    right.merge(c);
    SlotRecord all = a;
    all.merge(right);
    EXPECT_EQ(left, all);
    swapped.merge(b);
    swapped.merge(a);
    EXPECT_EQ(left, swapped);
    SlotRecord same = a;
    same.merge({});
    EXPECT_EQ(same, a);
  }
}

TEST(SlotRecord, BytesAddUpAndBusyTimeDoesNot) {
  SlotRecord a{.acked_bytes = 1000, .busy_ns = 50'000, .busy_acked_bytes = 900};
  a.merge({.acked_bytes = 500, .busy_ns = 40'000, .busy_acked_bytes = 400});
  EXPECT_EQ(a.acked_bytes, 1500u);
  EXPECT_EQ(a.busy_acked_bytes, 1300u);
  EXPECT_EQ(a.busy_ns, 50'000u);
}

TEST(SlotRecord, TheLastDelayIsTheNewest) {
  AckDelays a, b;
  a.add(Duration::micros(10), Instant{100});
  b.add(Duration::micros(30), Instant{50});
  b.add(Duration::micros(20), Instant{200});
  a.merge(b);
  EXPECT_EQ(a.last_ns, 20'000u);
  EXPECT_EQ(a.min_ns, 10'000u);
  EXPECT_EQ(a.max_ns, 30'000u);
  EXPECT_EQ(a.sum_ns, 60'000u);
  EXPECT_EQ(a.count, 3u);
}

TEST(SlotRecord, CountsSaturate) {
  SlotRecord a{.acked_bytes = std::numeric_limits<uint64_t>::max() - 1};
  a.merge({.acked_bytes = 5});
  EXPECT_EQ(a.acked_bytes, std::numeric_limits<uint64_t>::max());
}

}  // namespace
}  // namespace matchrdma
