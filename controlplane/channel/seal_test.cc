// Sealer, Opener and the replay window (C11).
#include "controlplane/channel/seal.h"

#include <gtest/gtest.h>

#include <set>

#include "controlplane/channel/test_proxy.h"

namespace matchrdma {
namespace {

using test::Buffer;
using test::psk;

struct Ends {
  Ends() {
    test::SeededEntropy entropy(1);
    pair = {entropy.nonce32(), entropy.nonce32()};
  }
  SessionKeys a() const { return {psk(1), pair}; }
  SessionKeys b() const { return {psk(1), pair.mirrored()}; }
  RandomPair pair;
};

Buffer sealed(Sealer& s, Queue queue, Bytes payload) {
  Buffer d(kMaxDatagramBytes);
  const Result<size_t> n = s.seal(queue, payload, d);
  EXPECT_TRUE(n);
  d.resize(n ? *n : 0);
  return d;
}
OpenVerdict open(Opener& o, Bytes d) {
  const std::optional<SessionHeader> h = SessionHeader::read(d);
  EXPECT_TRUE(h);
  Buffer plain(kMaxDatagramBytes);
  Bytes payload;
  return o.open(*h, d, plain, payload);
}

TEST(SessionKeys, BothSidesAgreeAndEveryPurposeHasItsOwn) {
  const Ends e;
  std::set<Buffer> keys;
  const auto add = [&](const Secret& s) { keys.insert(Buffer(s.bytes().begin(), s.bytes().end())); };
  for (const uint16_t worker : {uint16_t{0}, uint16_t{1}, uint16_t{258}}) {
    EXPECT_TRUE(e.a().sending(worker) == e.b().receiving(worker));
    EXPECT_TRUE(e.b().sending(worker) == e.a().receiving(worker));
    add(e.a().sending(worker));
    add(e.a().receiving(worker));
    add(SessionKeys(psk(2), e.pair).sending(worker));
  }
  Psk renamed = psk(1);
  renamed.id = KeyId{3};  // the same secret under another id
  add(SessionKeys(renamed, e.pair).sending(0));
  EXPECT_EQ(keys.size(), 10u);
  EXPECT_EQ(e.a().tag(), e.b().tag());
  EXPECT_NE(e.a().tag(), SessionKeys(psk(2), e.pair).tag());
}

TEST(Sealer, StopsBeforeACounterCouldComeAgain) {
  Sealer s(Ends().a(), 0, 10);
  Buffer d(kMaxDatagramBytes);
  for (uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(s.wants_new_session(), i >= 5);
    ASSERT_TRUE(s.seal(Queue::kControl, {}, d));
    EXPECT_EQ(SessionHeader::read(d)->counter, i);
  }
  for (int i = 0; i < 3; ++i) {
    const Result<size_t> refused = s.seal(Queue::kControl, {}, d);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().find("new session"), std::string::npos);
  }
}

TEST(Opener, OpensOncePerCounterAndOnlyItsDirectionAndWorker) {
  const Ends e;
  Sealer s(e.a(), 4);
  Opener right(e.b(), 4), other_worker(e.b(), 5), own(e.a(), 4);
  const Buffer d = sealed(s, Queue::kControl, Buffer{1, 2, 3});
  EXPECT_EQ(open(other_worker, d), OpenVerdict::kBadSeal);
  EXPECT_EQ(open(own, d), OpenVerdict::kBadSeal);
  EXPECT_EQ(open(right, d), OpenVerdict::kOpened);
  EXPECT_EQ(open(right, d), OpenVerdict::kReplayed);
}

TEST(Opener, ForgedCountersDoNotMoveTheWindow) {
  const Ends e;
  Sealer s(e.a(), 0);
  Opener o(e.b(), 0);
  const Buffer honest = sealed(s, Queue::kControl, Buffer{1});
  Buffer forged = honest;
  store_be32(forged.data() + 16, 0x7fffffff);  // counter
  EXPECT_EQ(open(o, forged), OpenVerdict::kBadSeal);
  EXPECT_EQ(open(o, honest), OpenVerdict::kOpened);
}

TEST(Opener, ControlDoesNotPushOutWhatWaitsBehindBulk) {
  const Ends e;
  Sealer s(e.a(), 0);
  Opener o(e.b(), 0);
  const Buffer data = sealed(s, Queue::kData, Buffer{1});
  for (int i = 0; i < 5000; ++i)
    EXPECT_EQ(open(o, sealed(s, Queue::kControl, Buffer{2})), OpenVerdict::kOpened);
  EXPECT_EQ(open(o, data), OpenVerdict::kOpened);
  EXPECT_EQ(open(o, data), OpenVerdict::kReplayed);
}

TEST(ReplayWindow, AgreesWithASetOfAllCounters) {
  Prng r(1);
  for (int round = 0; round < 50; ++round) {
    ReplayWindow w;
    std::set<uint64_t> seen;
    uint64_t newest = r.below(100);
    const uint64_t spread = 1 + r.below(3000);
    for (int i = 0; i < 3000; ++i) {
      const uint64_t back = r.below(spread);
      const uint64_t c = r.chance(0.5) || back > newest ? newest + r.below(spread) : newest - back;
      const bool fresh = !seen.contains(c) && (seen.empty() || c + ReplayWindow::kWidth > *seen.rbegin());
      ASSERT_EQ(w.take(c), fresh) << c;
      if (fresh) seen.insert(c);
      newest = std::max(newest, c);
    }
  }
}

TEST(ReplayWindow, ReachesExactly1024Back) {
  ReplayWindow w;
  EXPECT_TRUE(w.take(5000));
  EXPECT_TRUE(w.take(5000 - 1023));
  EXPECT_FALSE(w.take(5000 - 1024));
  EXPECT_FALSE(w.take(5000 - 1023));
  EXPECT_TRUE(w.take(UINT64_MAX));
  EXPECT_FALSE(w.take(5001));
}

}  // namespace
}  // namespace matchrdma
