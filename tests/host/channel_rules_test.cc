// One test for each rule of the channel that carries a tag.
#include <gtest/gtest.h>

#include "tests/host/channel_pair.h"

namespace matchrdma::host::test {
namespace {

using Path = ChannelEngine::Path;

std::vector<uint8_t> bytes_of(size_t n, uint8_t first = 1) {
  std::vector<uint8_t> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = static_cast<uint8_t>(first + i * 7);
  return v;
}

/// What take_sent() has said so far, counted.
struct Told {
  uint64_t sent = 0, released = 0, unknown = 0;
  void take(ChannelEngine& e) {
    while (const auto s = e.take_sent()) {
      sent += s->what == ChannelSent::What::kSent;
      released += s->what == ChannelSent::What::kReleased;
      unknown += s->what == ChannelSent::What::kUnknown;
    }
  }
};

ChannelOptions small_options() {
  ChannelOptions o;
  o.receives = 8;
  o.path_patience = Duration::millis(800);
  o.connection.timeout_exponent = 12;
  return o;
}

TEST(Channel, SmallAndLargeMessagesComeInOrder) {
  ChannelPair p(small_options());
  ASSERT_TRUE(p.up());
  const auto small = bytes_of(100), large = bytes_of(300'000, 9), none = bytes_of(0);
  for (const auto* m : {&small, &large, &none, &small, &large}) EXPECT_TRUE(p.engine[0]->send(3, *m, 0).ok());
  std::vector<ChannelReceived> got;
  ASSERT_TRUE(p.run(Duration::millis(50), [&] {
    while (auto r = p.engine[1]->in().take_received()) got.push_back(std::move(*r));
    return p.engine[0]->under_way() == 0;
  }));
  ASSERT_EQ(got.size(), 5u);
  for (size_t i = 0; i < got.size(); ++i) {
    const auto& right = i == 2 ? none : i % 3 == 1 ? large : small;
    EXPECT_EQ(got[i].message, i);
    EXPECT_TRUE(std::equal(right.begin(), right.end(), got[i].data.begin(), got[i].data.end())) << i;
  }
}

TEST(Channel, PostedBuffersTakeWhatFits) {
  ChannelPair p(small_options());
  ASSERT_TRUE(p.up());
  std::vector<uint8_t> buffer(10'000), source = bytes_of(9'000), longer = bytes_of(20'000);
  p.engine[1]->in().post_receive(0, buffer, 42);
  EXPECT_TRUE(p.engine[0]->send(0, longer, 0).ok());
  EXPECT_TRUE(p.engine[0]->send(0, source, 0).ok());
  std::vector<ChannelReceived> got;
  ASSERT_TRUE(p.run(Duration::millis(20), [&] {
    while (auto r = p.engine[1]->in().take_received()) got.push_back(std::move(*r));
    return got.size() == 2;
  }));
  EXPECT_FALSE(got[0].buffer);
  ASSERT_EQ(got[1].buffer, 42u);
  EXPECT_EQ(got[1].data.data(), buffer.data());
  EXPECT_TRUE(std::equal(source.begin(), source.end(), buffer.begin()));
}

// C5: rule 3. Whoever still has the key of a buffer cannot write into it any more.
TEST(Channel, TheKeyEndsBeforeTheApplicationGetsTheBuffer) {
  ChannelPair p(small_options());
  ASSERT_TRUE(p.up());
  std::vector<uint8_t> buffer(20'000);
  const auto message = bytes_of(20'000);
  p.engine[1]->in().post_receive(0, buffer, 1);
  EXPECT_TRUE(p.engine[0]->send(0, message, 0).ok());
  ASSERT_TRUE(p.run(Duration::millis(5), [&] { return p.engine[1]->in().take_received().has_value(); }));
  std::fill(buffer.begin(), buffer.end(), uint8_t{0xaa});
  const std::array<uint8_t, 8> stale{};
  for (uint32_t key = 1; key < 20; ++key) {
    QpHandle qp[2];
    for (uint32_t e = 0; e < 2; ++e) qp[e] = *p.net.nic(e).create_qp({.transport = Transport::kRc});
    for (uint32_t e = 0; e < 2; ++e)
      ASSERT_TRUE(p.net.nic(e).connect(qp[e], p.net.nic(1 - e).address(qp[1 - e]), {}).ok());
    SendRequest r{.op = SendRequest::Op::kWrite, .data = stale};
    r.rkey = key;
    p.net.nic(0).post_send(qp[0], {&r, 1});
    p.net.run_until(p.net.now() + Duration::millis(1));
  }
  EXPECT_EQ(buffer, std::vector<uint8_t>(20'000, 0xaa));
}

// C1: behind a proxy a completion says that it was taken over, nothing more.
TEST(Channel, CompletionsReleaseNothing) {
  ChannelOptions o = small_options();
  o.path_patience = Duration::seconds(100);
  ChannelPair p(o);
  p.net.add_custody(0);
  ASSERT_TRUE(p.up());
  p.set_loss(1);
  const auto message = bytes_of(1000);
  EXPECT_TRUE(p.engine[0]->send(0, message, 0).ok());
  Told told;
  p.run(Duration::millis(20), [&] { return told.take(*p.engine[0]), false; });
  EXPECT_EQ(told.sent, 1u);
  EXPECT_EQ(told.released, 0u);
  p.set_loss(0);
  EXPECT_TRUE(p.run(Duration::millis(200), [&] {
    p.engine[1]->in().take_received();
    told.take(*p.engine[0]);
    return told.released == 1;
  }));
}

// Behind a proxy a dead path has no errors either; RESUME says what is to be sent again.
TEST(Channel, AStandingPathIsFencedAndRebuilt) {
  ChannelPair p(small_options());
  p.net.add_custody(0);
  ASSERT_TRUE(p.up());
  p.set_loss(1);
  const auto message = bytes_of(1000);
  EXPECT_TRUE(p.engine[0]->send(0, message, 0).ok());
  ASSERT_TRUE(p.run(
      Duration::seconds(2), [&] { return p.engine[0]->path() == Path::kFencing; }, Duration::micros(50)));
  EXPECT_EQ(p.engine[0]->counters().path_stalls, 1u);
  p.set_loss(0);
  uint64_t got = 0;
  EXPECT_TRUE(p.run(
      Duration::seconds(3),
      [&] {
        while (p.engine[1]->in().take_received()) ++got;
        return p.engine[0]->under_way() == 0;
      },
      Duration::micros(50)));
  EXPECT_EQ(got, 1u);
  EXPECT_EQ(p.engine[0]->epoch(), 2u);
}

// H15: a new queue pair has the receives of a new queue pair, whatever was counted before. RNR would show it.
TEST(Channel, CreditsRestartWithTheEpoch) {
  ChannelPair p(small_options());
  const auto message = bytes_of(500);
  uint64_t got = 0;
  for (uint32_t epoch = 1; epoch <= 4; ++epoch) {
    ASSERT_TRUE(p.up());
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(p.engine[0]->send(0, message, 0).ok());
    ASSERT_TRUE(p.run(Duration::millis(100),
                      [&] {
                        while (p.engine[1]->in().take_received()) ++got;
                        return p.engine[0]->under_way() == 0;
                      }))
        << "epoch " << epoch << ", " << got;
    p.fail_qp(epoch % 2);
    ASSERT_TRUE(p.run(
        Duration::seconds(1), [&] { return p.engine[0]->epoch() > epoch; }, Duration::micros(50)));
  }
  // The peer looks at nothing for a while: what is more than its receives must wait.
  ASSERT_TRUE(p.up());
  p.dead[1] = true;
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(p.engine[0]->send(0, message, 0).ok());
  p.run(Duration::millis(5));
  EXPECT_EQ(p.net.nic(1).counters().no_receive, 0u);
  EXPECT_GT(p.engine[0]->counters().no_credit, 0u);
  p.dead[1] = false;
  EXPECT_TRUE(p.run(Duration::millis(100), [&] {
    while (p.engine[1]->in().take_received()) ++got;
    return p.engine[0]->under_way() == 0;
  }));
  EXPECT_EQ(got, 450u);
  EXPECT_EQ(p.net.nic(1).counters().no_receive, 0u);
}

// H16: the proxy goes on answering for a peer whose process is dead.
TEST(Channel, KeepaliveAsksTheProcess) {
  ChannelOptions o = small_options();
  o.ping_every = Duration::millis(100);
  o.peer_patience = Duration::millis(500);
  o.path_patience = Duration::seconds(100);
  ChannelPair p(o);
  p.net.add_custody(0);
  ASSERT_TRUE(p.up());
  p.run(
      Duration::seconds(2), [] { return false; }, Duration::micros(500));
  EXPECT_EQ(p.engine[0]->gone(), "") << "a peer that has nothing to say answers";
  p.dead[1] = true;
  // Its NIC and the proxy go on completing what is sent.
  const auto message = bytes_of(1000);
  Told told;
  uint64_t sent = 0;
  EXPECT_TRUE(p.run(
      Duration::seconds(1),
      [&] {
        if (sent < 8 && p.engine[0]->gone().empty() &&
            p.net.now().ns / 100'000'000 > static_cast<int64_t>(20 + sent))
          sent += p.engine[0]->send(0, message, 0).ok();
        told.take(*p.engine[0]);
        return p.engine[0]->over();
      },
      Duration::micros(500)));
  EXPECT_NE(p.engine[0]->gone().find("not said a word for 500 ms"), std::string::npos) << p.engine[0]->gone();
  told.take(*p.engine[0]);
  EXPECT_GT(sent, 2u);
  EXPECT_GE(told.sent, 3u);
  EXPECT_EQ(told.unknown, sent);
}

TEST(Channel, ARestartedProcessIsAnotherPeer) {
  ChannelPair p(small_options());
  ASSERT_TRUE(p.up());
  p.engine[0]->on_control_down();
  p.engine[0]->on_control_up(1, p.net.now());
  EXPECT_EQ(p.engine[0]->gone(), "") << "the same life";
  p.engine[0]->on_control_up(99, p.net.now());
  EXPECT_NE(p.engine[0]->gone(), "");
  EXPECT_TRUE(p.run(Duration::millis(1), [&] { return p.engine[0]->over(); }));
}

// H17: over TCP while there is no path, back when there is one; each message once and in order.
TEST(Channel, FallsBackToTcpAndReturns) {
  ChannelOptions o = small_options();
  o.fallback_after = Duration::millis(10);
  ChannelPair p(o);
  p.set_pipes(true);
  ASSERT_TRUE(p.up());
  const auto message = bytes_of(50'000);
  uint64_t asked = 0, got = 0;
  const auto go_on = [&] {
    for (; asked < got + 4; ++asked) EXPECT_TRUE(p.engine[0]->send(0, message, 0).ok());
    while (auto r = p.engine[1]->in().take_received()) {
      EXPECT_EQ(r->message, got);
      EXPECT_TRUE(std::equal(message.begin(), message.end(), r->data.begin(), r->data.end()));
      ++got;
    }
  };
  p.run(Duration::millis(2), [&] { return go_on(), false; });
  EXPECT_GT(got, 10u);
  p.set_loss(1);
  ASSERT_TRUE(p.run(
      Duration::seconds(3), [&] { return go_on(), p.engine[0]->counters().over_pipe > 10; },
      Duration::micros(50)));
  p.set_loss(0);
  ASSERT_TRUE(p.run(
      Duration::seconds(5), [&] { return go_on(), p.engine[0]->counters().returns > 0; },
      Duration::micros(50)));
  const uint64_t before = p.engine[0]->counters().large;
  EXPECT_TRUE(
      p.run(Duration::millis(100), [&] { return go_on(), p.engine[0]->counters().large > before + 10; }));
  EXPECT_EQ(p.engine[1]->counters().bad, 0u);
}

// C12: what the log does not show may have happened and is not done again.
TEST(Channel, AtomicsAreDoneAtMostOnceAndReported) {
  ChannelPair p(small_options());
  ASSERT_TRUE(p.up());
  std::array<uint64_t, 1> word{100};
  const Region r =
      *p.net.nic(1).add_region({reinterpret_cast<uint8_t*>(word.data()), sizeof word}, Access::kRemoteAtomic);
  const RemoteAtomics::Place place{r.remote, r.rkey};
  std::vector<ChannelAtomic> told;
  const auto take = [&] {
    while (const auto a = p.engine[0]->atomics().take()) told.push_back(*a);
  };
  p.engine[0]->atomics().fetch_add(place, 5);
  p.engine[0]->atomics().compare_swap(place, 105, 7);
  ASSERT_TRUE(p.run(Duration::millis(5), [&] { return take(), told.size() == 2; }));
  EXPECT_EQ(told[0].before, 100u);
  EXPECT_EQ(told[1].before, 105u);
  EXPECT_EQ(word[0], 7u);

  // Nothing leaves any more: neither of these happens.
  p.set_loss(1);
  p.engine[0]->atomics().fetch_add(place, 1);
  p.run(Duration::micros(5));
  p.fail_qp(0);
  p.set_loss(0);
  ASSERT_TRUE(p.run(
      Duration::seconds(2), [&] { return take(), told.size() == 3; }, Duration::micros(50)));
  EXPECT_EQ(told[2].what, ChannelAtomic::What::kUnknown);
  ASSERT_TRUE(p.up());
  p.run(Duration::millis(20));
  EXPECT_EQ(word[0], 7u) << "not done again";

  // The addition and its log arrive, the answer does not.
  PathModel deaf = p.net.path(1);
  deaf.loss = 1;
  p.net.set_path(1, deaf);
  p.engine[0]->atomics().fetch_add(place, 1);
  p.run(Duration::micros(100));
  EXPECT_EQ(word[0], 8u);
  p.fail_qp(0);
  p.set_loss(0);
  ASSERT_TRUE(p.run(
      Duration::seconds(2), [&] { return take(), told.size() == 4; }, Duration::micros(50)));
  EXPECT_EQ(told[3].what, ChannelAtomic::What::kTookEffect);
  ASSERT_TRUE(p.up());
  p.run(Duration::millis(20));
  EXPECT_EQ(word[0], 8u) << "not done again";
}

TEST(Channel, PutsAreCountedWhenTheirBytesAreThere) {
  NicModel torn;
  torn.torn = 1;
  ChannelPair p(small_options(), {}, torn);
  std::vector<uint8_t> window(100'000);
  p.engine[1]->in().open_window(2, window);
  ASSERT_TRUE(p.up());
  const auto bytes = bytes_of(60'000);
  EXPECT_FALSE(p.engine[0]->put(1, 0, bytes, 0).ok()) << "not open";
  ASSERT_TRUE(p.run(Duration::millis(5), [&] { return p.engine[0]->put(2, 30'000, bytes, 0).ok(); }));
  EXPECT_FALSE(p.engine[0]->put(2, 40'001, bytes, 0).ok()) << "beyond the end";
  ASSERT_TRUE(p.run(Duration::millis(5), [&] { return p.engine[1]->in().arrived(2) == 1; }));
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), window.begin() + 30'000));
  p.run(Duration::millis(1));
  EXPECT_EQ(p.engine[0]->under_way(), 1u) << "the application is not through with it";
  p.engine[1]->in().release_puts(2, 1);
  EXPECT_TRUE(p.run(Duration::millis(5), [&] { return p.engine[0]->under_way() == 0; }));
}

// C3: a rebuilt path has another queue pair, at both ends.
TEST(Channel, ARebuiltPathHasNewNumbers) {
  ChannelPair p(small_options());
  ASSERT_TRUE(p.up());
  const auto qpn = [&](uint32_t end, uint32_t v) { return p.net.nic(end).address({v}).qpn; };
  const uint32_t old[2] = {qpn(0, 0), qpn(1, 0)};
  p.fail_qp(1);
  ASSERT_TRUE(p.run(
      Duration::seconds(2), [&] { return p.engine[0]->epoch() == 2 && p.both(Path::kUp); },
      Duration::micros(50)));
  for (uint32_t e = 0; e < 2; ++e) EXPECT_NE(qpn(e, 1), old[e]);
}

TEST(Channel, ManyRequestsTakeFewDoorbells) {
  ChannelPair p(small_options());
  ASSERT_TRUE(p.up());
  const auto message = bytes_of(16'384 * 64);
  const uint64_t batches = p.engine[0]->counters().batches, requests = p.engine[0]->counters().requests;
  EXPECT_TRUE(p.engine[0]->send(0, message, 0).ok());
  ASSERT_TRUE(p.run(Duration::millis(5), [&] { return p.engine[1]->in().take_received().has_value(); }));
  EXPECT_GE(p.engine[0]->counters().requests - requests, 65u) << "the request, and 64 fragments";
  EXPECT_LE(p.engine[0]->counters().batches - batches, 3u);
}

}  // namespace
}  // namespace matchrdma::host::test
