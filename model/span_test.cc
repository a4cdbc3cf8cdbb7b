#include "model/span.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/packet_arena.h"

namespace matchrdma::model {
namespace {

std::vector<int> drain(Span<int>& s) {
  std::vector<int> out;
  while (auto v = s.pop_due(Instant::never())) out.push_back(*v);
  return out;
}

TEST(ModelSpan, DelayAndRate) {
  Span<int> s({.delay = Duration::micros(100), .rate = Rate{1'000'000'000}}, 1);
  s.push(1, 125, Instant{0});  // 1 us each
  s.push(2, 125, Instant{0});
  EXPECT_EQ(s.next_due(), Instant{101'000});
  EXPECT_FALSE(s.pop_due(Instant{100'999}));
  EXPECT_EQ(s.pop_due(Instant{101'000}), 1);
  EXPECT_EQ(s.next_due(), Instant{102'000});
  EXPECT_EQ(s.queue_bytes(Instant{500}), 188);
}

TEST(ModelSpan, RateIsExactOverManySmallPackets) {
  Span<int> s({.rate = Rate{100'000'000'000}}, 1);
  for (int i = 0; i < 1'000'000; ++i) {
    s.push(i, 64, Instant{0});
    s.pop_due(Instant::never());
  }
  s.push(-1, 0, Instant{0});
  EXPECT_EQ(s.next_due(), Instant{5'120'000});
}

TEST(ModelSpan, DarkUntilLight) {
  Span<int> s({.delay = Duration::micros(100), .reorder = 0.5, .reorder_extra = Duration::micros(9)}, 1);
  for (int i = 0; i < 10; ++i) s.push(i, 100, Instant{i});
  s.darken();
  EXPECT_TRUE(s.empty());
  EXPECT_TRUE(s.next_due().is_never());
  s.push(10, 100, Instant{50});
  EXPECT_TRUE(drain(s).empty());
  s.light();
  s.push(11, 100, Instant{60});
  EXPECT_EQ(drain(s), std::vector{11});
  EXPECT_EQ(s.stats().cut, 11u);
  EXPECT_EQ(s.stats().pushed, 12u);
}

TEST(ModelSpan, QueueBound) {
  Span<int> s({.rate = Rate{1'000'000'000}, .queue_bytes = 1000}, 1);
  for (int i = 0; i < 5; ++i) s.push(i, 400, Instant{0});
  EXPECT_EQ(drain(s), (std::vector{0, 1}));
  EXPECT_EQ(s.stats().tail_drops, 3u);
  EXPECT_EQ(s.stats().peak_queue_bytes, 800);
}

TEST(ModelSpan, ImpairmentsAreCountedAndRepeatable) {
  std::vector<int> first;
  for (int round = 0; round < 2; ++round) {
    Span<int> s(
        {.loss = 0.1, .duplicate = 0.1, .reorder = 0.1, .corrupt = 0.1, .reorder_extra = Duration::micros(9)},
        42);
    s.set_corrupt([](int& v, Prng&) { v = -v; });
    for (int i = 1; i <= 1000; ++i) s.push(i, 100, Instant{i * 100});
    const auto out = drain(s);
    EXPECT_NEAR(static_cast<double>(s.stats().lost), 100, 40);
    EXPECT_EQ(out.size(), 1000 - s.stats().lost + s.stats().duplicated);
    EXPECT_EQ(std::count_if(out.begin(), out.end(), [](int v) { return v < 0; }),
              static_cast<int64_t>(s.stats().corrupted));
    EXPECT_GT(s.stats().reordered, 50u);
    if (round == 0)
      first = out;
    else
      EXPECT_EQ(out, first);
  }
}

TEST(ModelSpan, CutLosesWhatIsOnTheFibre) {
  Span<int> s({.delay = Duration::micros(10), .cuts = {{Instant{15'000}, Instant{30'000}}}}, 1);
  for (int i = 0; i < 50; ++i) s.push(i, 100, Instant{i * 1000});
  const auto out = drain(s);
  ASSERT_EQ(out.size(), 25u);  // sent in [5, 30) us is lost
  EXPECT_EQ(out[4], 4);
  EXPECT_EQ(out[5], 30);
  EXPECT_EQ(s.stats().cut, 25u);
}

TEST(ModelSpan, CarriesPacketsAndControlAndSpoilsCopies) {
  PacketArena arena;
  {
    ItemSpan s = make_item_span({.duplicate = 1, .corrupt = 1}, 7, arena);
    const std::vector<uint8_t> zeros(200, 0);
    PacketRef kept = arena.copy(zeros);
    s.push({.packet = kept.share()}, 200, Instant{0});
    s.push({.control = zeros}, 200, Instant{0});
    for (int i = 0; i < 4; ++i) {
      const auto item = s.pop_due(Instant{0});
      ASSERT_TRUE(item);
      const Bytes got = item->packet ? item->packet->bytes() : Bytes(item->control);
      EXPECT_EQ(static_cast<bool>(item->packet), i < 2);
      EXPECT_NE(std::count(got.begin(), got.end(), 0), 200);
    }
    EXPECT_EQ(std::count(kept->data, kept->data + 200, 0), 200);
  }
  EXPECT_EQ(arena.live_packets(), 0u);
}

TEST(Span, ReorderedItemsComeInTheOrderOfTheirTimes) {
  Span<int> s({.delay = Duration::micros(10), .reorder = 0.3, .reorder_extra = Duration::micros(5)}, 4);
  for (int i = 0; i < 1000; ++i) s.push(i, 100, Instant{i * 100});
  EXPECT_GT(s.stats().peak_in_flight_bytes, 90'000);
  std::vector<bool> seen(1000);
  Instant before{};
  for (int count = 0; count < 1000; ++count) {
    const Instant due = s.next_due();
    EXPECT_GE(due, before);
    before = due;
    const int i = *s.pop_due(due);
    EXPECT_GE(due, Instant{i * 100 + 10'000});
    EXPECT_LE(due, Instant{i * 100 + 15'000});
    seen[static_cast<size_t>(i)] = true;
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 1000);
  EXPECT_TRUE(s.empty());
}

TEST(PacketArena, BoundsAndCounts) {
  for (const auto mode : {ArenaConfig::Mode::kExact, ArenaConfig::Mode::kPooled}) {
    PacketArena arena({.mode = mode, .max_packets = 3, .max_bytes = 1000});
    PacketRef x = arena.alloc(600);
    EXPECT_EQ(x->size, 600u);
    EXPECT_EQ(x->capacity, mode == ArenaConfig::Mode::kExact ? 600u : 640u);
    EXPECT_FALSE(arena.alloc(401));
    PacketRef y = arena.alloc(400), z = arena.alloc(0);
    EXPECT_FALSE(arena.alloc(0));
    EXPECT_EQ(arena.exhausted(), 2u);
    x->size = 10;  // cutting a packet does not confuse the counts
    x.reset();
    EXPECT_EQ(arena.live_packets(), 2u);
    EXPECT_EQ(arena.live_bytes(), 400u);
    EXPECT_EQ(arena.peak_bytes(), 1000u);
    x = arena.alloc(500);
    EXPECT_EQ(x->size, 500u);
    PacketRef again = x.share();
    x.reset();
    EXPECT_EQ(arena.live_packets(), 3u);
  }
}

TEST(PacketArena, JumboIsAllocatedExactly) {
  PacketArena arena({.mode = ArenaConfig::Mode::kPooled});
  PacketRef p = arena.alloc(70'000);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->capacity, 70'000u);
  p->data[69'999] = 1;
}

}  // namespace
}  // namespace matchrdma::model
