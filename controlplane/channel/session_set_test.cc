// Which sessions live, and which one is sealed under.
#include "controlplane/channel/session_set.h"

#include <gtest/gtest.h>

#include "controlplane/channel/test_proxy.h"

namespace matchrdma {
namespace {

using test::psk;

RandomPair numbers(uint64_t seed) {
  test::SeededEntropy entropy(seed);
  return {entropy.nonce32(), entropy.nonce32()};
}

TEST(SessionSet, SealsUnderTheNewestKeyThatThePeerConfirmed) {
  SessionSet s{HandshakeTiming{}};
  s.add(numbers(1), {psk(1), psk(2)});
  EXPECT_EQ(s.snapshot().open.size(), 2u);
  EXPECT_FALSE(s.snapshot().seal);
  EXPECT_TRUE(s.confirm(KeyId{1}));
  EXPECT_FALSE(s.snapshot().seal);  // the peer may not hold the pair yet
  EXPECT_EQ(s.seals_under_newest(), KeyId{});
  EXPECT_TRUE(s.establish(Instant{}));
  EXPECT_EQ(s.snapshot().seal->key_id(), KeyId{1});
  EXPECT_FALSE(s.confirm(KeyId{1}));
  EXPECT_FALSE(s.confirm(KeyId{3}));
  EXPECT_TRUE(s.confirm(KeyId{2}));
  EXPECT_EQ(s.snapshot().seal->key_id(), KeyId{2});
  EXPECT_FALSE(s.establish(Instant{}));
}

TEST(SessionSet, UnloadingAnOlderKeyCostsNothingAndANewerOneTheSession) {
  SessionSet s{HandshakeTiming{}};
  const KeyRing one{psk(1)}, both{psk(1), psk(2)}, two{psk(2)};
  s.add(numbers(1), both);
  s.confirm(KeyId{1});
  s.establish(Instant{});
  EXPECT_TRUE(s.reload(both, one));  // the peer may seal under 2
  EXPECT_TRUE(s.reload(one, both));  // 2 is back: its windows are gone
  EXPECT_EQ(s.snapshot().open.size(), 1u);
  s.add(numbers(2), both);
  s.confirm(KeyId{2});
  s.establish(Instant{});
  EXPECT_FALSE(s.reload(both, two));
}

TEST(SessionSet, APairWhoseKeysAreAllGoneIsNotEstablished) {
  SessionSet s{HandshakeTiming{}};
  const KeyRing one{psk(1)}, two{psk(2)}, both{psk(2), psk(1)};
  s.add(numbers(1), one);
  s.reload(one, two);
  EXPECT_TRUE(s.reload(two, both));
  EXPECT_FALSE(s.confirm(KeyId{1}));
  EXPECT_FALSE(s.establish(Instant{}));
}

}  // namespace
}  // namespace matchrdma
