// The handshake and its events (C11), seen from two proxies over a path.
#include "controlplane/channel/peer_session.h"

#include <gtest/gtest.h>

#include "controlplane/channel/test_proxy.h"

namespace matchrdma {
namespace {

using test::Buffer;
using test::Pair;
using test::Proxy;
using test::psk;

Message numbered(uint64_t n) { return FlowClosed{FlowId{n}}; }

TEST(PeerSession, BothSidesComeUpInTwoRoundTrips) {
  Pair p(1);
  p.run(Duration::millis(25));
  ASSERT_TRUE(p.joined());
  for (Proxy* x : {&p.a, &p.b}) {
    EXPECT_EQ(x->all<SessionUp>().size(), 1u);
    EXPECT_EQ(x->all<KeyConfirmed>().size(), 1u);
    EXPECT_EQ(x->session->peer_offer(), (Offer{5, 1, 100}));
  }
  p.run(Duration::millis(25));
  EXPECT_EQ(p.a.session->peer_seals_under(), KeyId{1});
  p.a.say(numbered(7));
  p.b.say(numbered(8));
  p.run(Duration::millis(10));
  ASSERT_EQ(p.a.got.size(), 1u);
  ASSERT_EQ(p.b.got.size(), 1u);
  EXPECT_EQ(std::get<FlowClosed>(p.a.got[0]).id.v, 8u);
}

TEST(PeerSession, RepeatsSlowerAndSlowerThenKeepsAlive) {
  Proxy lonely(1, {psk(1)});
  std::vector<int64_t> at;
  for (Instant now; now < Instant{} + Duration::seconds(10); now = now + Duration::millis(1)) {
    lonely.poll(now);
    if (!lonely.taken().empty()) at.push_back(now.ns / 1'000'000);
  }
  ASSERT_GT(at.size(), 10u);
  EXPECT_EQ(at[1] - at[0], 10);
  EXPECT_EQ(at[2] - at[1], 20);
  EXPECT_EQ(at.back() - at[at.size() - 2], 1000);

  Pair p(2);
  p.run(Duration::millis(200));
  const size_t before = p.to_a.size() + p.to_b.size();
  p.run(Duration::seconds(10));
  EXPECT_LE(p.to_a.size() + p.to_b.size() - before, 44u);  // a HELLO and its answer, each side, each second
}

TEST(PeerSession, ARestartOfEitherSideIsANewSession) {
  Pair p(3);
  p.run(Duration::millis(100));
  for (int i = 0; i < 10; ++i) {
    Proxy& dead = i % 2 == 0 ? p.a : p.b;
    Proxy& other = i % 2 == 0 ? p.b : p.a;
    const uint64_t old = other.tag();
    other.out.events.clear();
    dead.restart(p.now);
    p.run(Duration::millis(30));
    ASSERT_TRUE(p.joined());
    EXPECT_NE(p.a.tag(), old);
    ASSERT_EQ(other.all<SessionUp>().size(), 1u);
    EXPECT_TRUE(other.all<SessionUp>()[0].peer_started);
  }
}

TEST(PeerSession, RenewChangesKeysAndIsNoRestart) {
  Pair p(4);
  p.run(Duration::millis(100));
  const uint64_t old = p.a.tag();
  p.a.out.events.clear();
  p.b.out.events.clear();
  p.a.session->renew(p.now);
  uint64_t n = 0;
  for (; n < 100; ++n) {
    p.a.say(numbered(n));
    p.b.say(numbered(n));
    p.step();
  }
  p.run(Duration::millis(20));
  EXPECT_TRUE(p.joined());
  EXPECT_NE(p.a.tag(), old);
  for (Proxy* x : {&p.a, &p.b}) {
    EXPECT_EQ(x->got.size(), n);  // without a gap
    ASSERT_EQ(x->all<SessionUp>().size(), 1u);
    EXPECT_FALSE(x->all<SessionUp>()[0].peer_started);
  }
}

TEST(PeerSession, NobodySealsInASessionThatThePeerMayNotHold) {
  Pair p(11);
  p.run(Duration::millis(100));
  p.a.session->renew(p.now);
  p.step();                       // asks `b`
  p.faults.no_hello_to_b = true;  // what would tell it of the new pair is lost, again and again
  for (uint64_t n = 0; n < 100; ++n) {
    p.a.say(numbered(n));
    p.step();
  }
  EXPECT_EQ(p.a.session->counters().new_pairs, 2u);
  p.faults.no_hello_to_b = false;
  p.run(Duration::seconds(1));
  EXPECT_EQ(p.b.got.size(), 100u);
  EXPECT_TRUE(p.joined());
}

TEST(PeerSession, APeerThatOffersOurOwnNumberIsRefused) {
  Pair p(12);
  p.a.poll(p.now);
  HelloSeal seal(psk(1));
  test::SeededEntropy entropy(1);
  const Buffer ours = p.a.taken().at(0);
  const Hello hello = std::get<Hello>(seal.open(*HelloHeader::read(ours), ours));
  Hello wrong = hello;
  wrong.life ^= 1;
  wrong.ack = true;
  wrong.echo = hello.fresh;
  p.a.receive(seal.seal(wrong, entropy), p.now);
  EXPECT_EQ(p.a.session->counters().reflected, 1u);
  EXPECT_EQ(p.a.session->counters().new_pairs, 0u);
}

TEST(PeerSession, AnAnswerFromBeforeRenewIsNoAnswerToIt) {
  Pair p(10);
  p.run(Duration::seconds(3));
  const Buffer answer = p.to_a.back();  // to a keep-alive: it echoes the number that `a` offers
  ASSERT_TRUE(HelloHeader::read(answer)->ack);
  p.a.session->renew(p.now);
  p.a.receive(answer, p.now);
  EXPECT_EQ(p.a.session->counters().new_pairs, 1u);
  p.run(Duration::millis(50));
  EXPECT_EQ(p.a.session->counters().new_pairs, 2u);
}

TEST(PeerSession, OldKeysOpenForAGraceAndAreThenForgotten) {
  Pair p(5);
  p.run(Duration::millis(100));
  p.a.say(numbered(1));
  p.a.say(numbered(2));
  std::vector<Buffer> late = p.a.taken();
  ASSERT_EQ(late.size(), 2u);
  p.a.session->renew(p.now);
  p.run(Duration::millis(100));
  EXPECT_EQ(p.b.session->session().open.size(), 2u);
  p.b.receive(late[0], p.now);
  EXPECT_EQ(p.b.got.size(), 1u);
  p.run(Duration::seconds(2));
  EXPECT_EQ(p.b.session->session().open.size(), 1u);
  p.b.receive(late[1], p.now);
  EXPECT_EQ(p.b.got.size(), 1u);
  EXPECT_EQ(p.b.channel->counters().stale_session, 1u);
}

TEST(PeerSession, APeerOfAnotherVersionIsRefusedByNameAndLeavesNoState) {
  Proxy a(1, {psk(1)});
  test::SeededEntropy entropy(9);
  HelloHeader header;
  header.version = kChannelVersion + 1;
  header.key = KeyId{1};
  HelloSeal seal(psk(1));
  const auto before = a.session->next_wakeup();
  for (size_t body : {0u, 17u, 300u}) {  // of any length: only the seal is looked at
    entropy.fill(header.nonce);
    Buffer d = seal.seal_body(header, Buffer(body));
    a.receive(d, Instant{});
    d.back() ^= 1;  // whoever holds no key cannot make us say so
    a.receive(d, Instant{});
  }
  EXPECT_EQ(a.session->counters().other_version, 3u);
  EXPECT_EQ(a.session->counters().bad_seal, 3u);
  ASSERT_EQ(a.out.events.size(), 1u);  // not once per datagram
  EXPECT_EQ(std::get<VersionRefused>(a.out.events[0]).own, kChannelVersion);
  EXPECT_EQ(std::get<VersionRefused>(a.out.events[0]).peer, kChannelVersion + 1);
  EXPECT_EQ(a.session->next_wakeup(), before);
  EXPECT_TRUE(a.taken().empty());
  EXPECT_EQ(a.session->session().open.size(), 0u);
}

TEST(PeerSession, NothingChangesBeforeOurNumberWasEchoed) {
  Pair p(6);
  p.run(Duration::millis(300));
  const uint64_t number = p.a.session->session().number;
  const uint64_t unproven = p.a.session->counters().unproven;
  Proxy stranger(77, {psk(1)});  // holds the key, has heard nothing of us
  for (int i = 0; i < 100; ++i) {
    stranger.restart(p.now);
    stranger.poll(p.now);
    for (const Buffer& d : stranger.taken()) p.a.receive(d, p.now);
  }
  EXPECT_EQ(p.a.session->session().number, number);
  EXPECT_EQ(p.a.session->counters().unproven, unproven + 100);
  EXPECT_EQ(p.a.taken().size(), 16u);  // and the work it can cause has a bound
  EXPECT_EQ(p.a.session->counters().unanswered, 84u);
}

TEST(PeerSession, OwnDatagramsSentBackAreRefused) {
  Pair p(7);
  p.run(Duration::millis(1));
  Proxy mirror_only(8, {psk(1)});
  for (int i = 0; i < 100; ++i) {  // a path that only reflects
    mirror_only.poll(p.now + Duration::seconds(i));
    for (const Buffer& d : mirror_only.taken()) mirror_only.receive(d, p.now + Duration::seconds(i));
  }
  EXPECT_EQ(mirror_only.session->counters().reflected, 100u);
  EXPECT_EQ(mirror_only.session->session().open.size(), 0u);
  p.run(Duration::millis(100));
  ASSERT_TRUE(p.joined());
  for (uint64_t n = 0; n < 50; ++n) p.a.say(numbered(n));
  const uint64_t number = p.a.session->session().number;
  for (const Buffer& d : p.a.taken()) p.a.receive(d, p.now);
  EXPECT_EQ(p.a.channel->counters().bad_seal, 50u);  // the direction stands in the key
  for (const Buffer& d : std::vector<Buffer>(p.to_b)) p.a.receive(d, p.now);
  EXPECT_TRUE(p.a.got.empty());
  EXPECT_EQ(p.a.session->session().number, number);
}

TEST(PeerSession, EveryBitFlipAndCutOfAHelloIsCountedAndChangesNothing) {
  Pair p(8);
  p.run(Duration::millis(100));
  p.a.poll(p.a.session->next_wakeup());
  const Buffer whole = p.a.taken().at(0);
  const uint64_t number = p.b.session->session().number;
  const auto refused = [&](Bytes d) {
    const PeerCounters& n = p.b.session->counters();
    const uint64_t before = n.not_hello + n.unknown_key + n.bad_seal;
    p.b.session->receive(d, p.now, p.b.out);
    return n.not_hello + n.unknown_key + n.bad_seal == before + 1;
  };
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    Buffer d = whole;
    d[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    EXPECT_TRUE(refused(d)) << bit;
  }
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_TRUE(refused(Bytes(whole).first(size)));
  EXPECT_EQ(p.b.session->session().number, number);
  EXPECT_TRUE(p.b.out.datagrams.empty());
  EXPECT_EQ(p.b.out.events.size(), 2u);  // confirmed, up
  EXPECT_FALSE(refused(whole));
}

TEST(PeerSession, KeysThatCannotBeRightAreExplained) {
  Proxy a(1, {psk(1)});
  PeerSession& s = *a.session;
  const auto complaint = [&](KeyRing ring) {
    const Result<void> r = s.set_keys(std::move(ring), Instant{});
    return r ? std::string() : r.error();
  };
  Psk other = psk(2);
  other.id = KeyId{1};
  EXPECT_NE(complaint({}).find("one key or two"), std::string::npos);
  EXPECT_NE(complaint({psk(1), psk(2), psk(3)}).find("one key or two"), std::string::npos);
  EXPECT_NE(complaint({psk(1), psk(1)}).find("same id"), std::string::npos);
  EXPECT_NE(complaint({Psk{}}).find("id 0"), std::string::npos);
  EXPECT_NE(complaint({other}).find("another secret"), std::string::npos);
  EXPECT_EQ(complaint({psk(1), psk(2)}), "");
  EXPECT_NE(complaint({psk(2), psk(1)}).find("change places"), std::string::npos);
  EXPECT_EQ(complaint({psk(2)}), "");
}

TEST(PeerSession, WithoutASharedKeyThereIsNoSession) {
  Pair p(9, {psk(1)}, {psk(2)});
  p.run(Duration::seconds(3));
  EXPECT_EQ(p.a.tag(), 0u);
  EXPECT_GT(p.a.session->counters().unknown_key, 0u);
  p.a.say(numbered(1));
  EXPECT_EQ(p.a.channel->counters().no_session, 1u);  // there is no unsealed mode
  EXPECT_TRUE(p.a.taken().empty());
}

}  // namespace
}  // namespace matchrdma
