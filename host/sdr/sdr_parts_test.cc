#include <gtest/gtest.h>

#include "dataplane/base/prng.h"
#include "host/fabric/immediate.h"
#include "host/fabric/round_trip.h"
#include "host/sdr/packet_set.h"
#include "host/sdr/signal.h"
#include "host/sdr/slot_table.h"

namespace matchrdma::host {
namespace {

constexpr uint32_t kEpoch = 7;

std::vector<Signal> signals() {
  SenderState s{Instant{123}, Duration::millis(25), 3, {{1, 1 << 20, true, false}, {2, 0, false, true}}};
  Grant g{5, {1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, 11};
  ReceiverState r{{Instant::never(), {}}, 9, {g, g}};
  Ack a{{Instant{-5}, Duration{77}}, 8, 100, 90, false, 64, 128, {0xff, 0x01, 0x80}};
  return {s, r, a};
}

TEST(SdrSignal, ComesBackAsItWas) {
  for (const Signal& s : signals()) {
    const auto back = decode_signal(encode_signal(s, kEpoch), kEpoch);
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(*back, s);
    EXPECT_FALSE(decode_signal(encode_signal(s, kEpoch), kEpoch + 1)) << "of another life of the connection";
  }
}

TEST(SdrSignal, CutOffIsNone) {
  for (const Signal& s : signals()) {
    const std::vector<uint8_t> whole = encode_signal(s, kEpoch);
    for (size_t n = 0; n < kSignalHeader && n < whole.size(); ++n) {
      // Behind the fixed part an Ack may end anywhere, and a state after any of its entries.
      const auto part = decode_signal(Bytes(whole).first(n), kEpoch);
      EXPECT_TRUE(!part || !(*part == s)) << n;
    }
  }
}

TEST(SdrSignal, TimesThatNoClockShowsAreRefused) {
  std::vector<uint8_t> b = encode_signal(SenderState{Instant{1}, Duration{1}, 0, {}}, kEpoch);
  ASSERT_TRUE(decode_signal(b, kEpoch));
  b[6] = 0x7f;  // the time
  EXPECT_FALSE(decode_signal(b, kEpoch));
  b[6] = 0;
  b[14] = 0x80;  // the round trip
  EXPECT_FALSE(decode_signal(b, kEpoch));
}

TEST(SdrImmediate, PacksEveryTag) {
  for (const uint32_t slots : {1u, 2u, 8u, 200u}) {
    const ImmediateLayout l = *ImmediateLayout::of(slots, 3000);
    Prng p(slots);
    for (int i = 0; i < 1000; ++i) {
      const PacketTag t{static_cast<uint32_t>(p.below(slots)), static_cast<uint32_t>(p.below(3000)),
                        static_cast<uint32_t>(p.below(l.generations()))};
      EXPECT_EQ(l.unpack(l.pack(t)), t);
    }
  }
  EXPECT_FALSE(ImmediateLayout::of(256, 1 << 21).ok()) << "3 bits are left for the generation";
  EXPECT_TRUE(ImmediateLayout::of(256, 1 << 20).ok());
}

TEST(SdrSlots, AGenerationDoesNotComeAgainBeforeItHasRested) {
  const ImmediateLayout l{1, 27, 4};
  SlotTable table(l, 1);
  const Duration rest = Duration::seconds(1);
  Instant now;
  std::vector<std::pair<uint32_t, Instant>> given;  // generation, when it was given back
  for (int i = 0; i < 200; ++i) {
    now = now + Duration::millis(40);
    const auto tag = table.take(10, 1, 1, now, rest);
    if (!tag) continue;
    for (const auto& [generation, at] : given)
      if (generation == tag->generation) {
        EXPECT_GE((now - at).ns, rest.ns);
      }
    table.give_back(tag->slot, now);
    std::erase_if(given, [&](const auto& g) { return g.first == tag->generation; });
    given.emplace_back(tag->generation, now);
  }
  EXPECT_EQ(given.size(), 16u) << "all generations were used";
}

TEST(SdrSlots, StaleImmediatesAreTold) {
  const ImmediateLayout l{1, 27, 4};
  SlotTable table(l, 2);
  const auto tag = table.take(10, 1, 42, {}, {});
  ASSERT_TRUE(tag);
  EXPECT_EQ(table.book(l.pack({tag->slot, 3, tag->generation})).what, SlotTable::Booked::kNew);
  EXPECT_EQ(table.book(l.pack({tag->slot, 3, tag->generation})).what, SlotTable::Booked::kAgain);
  EXPECT_EQ(table.book(l.pack({tag->slot, 11, tag->generation})).what, SlotTable::Booked::kAgain)
      << "beyond it";
  EXPECT_EQ(table.book(l.pack({tag->slot, 4, tag->generation + 1})).what, SlotTable::Booked::kStale);
  EXPECT_EQ(table.book(l.pack({1 - tag->slot, 4, 0})).what, SlotTable::Booked::kStale)
      << "a slot that nobody has";
  table.give_back(tag->slot, {});
  EXPECT_EQ(table.book(l.pack({tag->slot, 5, tag->generation})).what, SlotTable::Booked::kStale);
}

TEST(SdrPackets, FirstMissingAndChunks) {
  for (const uint32_t n : {1u, 63u, 64u, 65u, 1000u}) {
    PacketSet s(n, 8);
    std::vector<bool> there(n);
    Prng p(n);
    while (!s.full()) {
      const auto i = static_cast<uint32_t>(p.below(n));
      EXPECT_EQ(s.add(i), !there[i]);
      there[i] = true;
      const auto first = std::find(there.begin(), there.end(), false) - there.begin();
      EXPECT_EQ(s.first_missing(), static_cast<uint32_t>(first));
    }
    uint32_t sum = 0;
    for (uint32_t c = 0; c < s.chunks(); ++c) sum += s.chunk_count(c);
    EXPECT_EQ(sum, n);
  }
}

// H10: the other end's clock and how long it thought do not matter.
TEST(SdrRoundTrip, FollowsSamples) {
  RoundTrip r(Duration::millis(100));
  EXPECT_EQ(r.average().ns, Duration::millis(100).ns);
  for (int i = 0; i < 50; ++i) r.add(Duration::millis(10 + i % 2));
  EXPECT_NEAR(static_cast<double>(r.average().ns), 10.5e6, 0.3e6);
  EXPECT_EQ(r.least().ns, Duration::millis(10).ns);
}

}  // namespace
}  // namespace matchrdma::host
