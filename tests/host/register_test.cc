// Registration of the host library against the listener of the proxies, over loopback; time is the test's.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <fstream>

#include "controlplane/service/listeners.h"
#include "controlplane/service/test_daemon.h"
#include "dataplane/base/test_folder.h"
#include "host/control/test_hello.h"
#include "host/register/relay.h"

namespace matchrdma::host {
namespace {

const std::string kKey(64, 'a'), kOtherKey(64, 'b');

FlowEnd end_of(const char* ip, uint32_t qpn, uint32_t psn) { return {ip_from_text(ip)->b, qpn, psn}; }
ProxiedPair pair_of(uint32_t i = 0) {
  return {end_of("10.0.0.1", 17 + i, 100), end_of("10.0.1.1", 18 + i, 200), 4096};
}

/// A daemon that refuses what this says.
struct Daemon : service::TestDaemon {
  std::string refuses;
  Result<service::Progress> register_pair(const service::PairRequest& p) override {
    if (!refuses.empty()) return Error{refuses};
    return TestDaemon::register_pair(p);
  }
};

struct Register : testing::Test {
  Register() { listen(0); }
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = folder / name;
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), 0600), 0);
    return path;
  }
  void listen(uint16_t at) {
    service::RegisterListenerOptions o;
    o.port = at;
    o.psk_file = file("server", "host-a " + kKey + "\n");
    auto opened = service::open_register_listener(o, commands);
    ASSERT_TRUE(opened.ok()) << opened.error();
    server = std::move(*opened);
    port = service::port_of(*server);
  }
  std::unique_ptr<ProxyClient> client_with(const std::string& line) {
    auto key = TlsPskClient::load(file("client", line + "\n"), "");
    EXPECT_TRUE(key.ok());
    ProxyClientOptions o;
    o.ip = "127.0.0.1";
    o.port = port;
    return *ProxyClient::make(o, std::make_shared<TlsPskClient>(std::move(*key)));
  }
  ProxyClient::Told tell() {
    return [this](const PairOutcome& o) { outcomes.push_back(o); };
  }
  /// Everything runs as a poll() loop would run it, until `done` or nothing moves for 2 s.
  template <class Done>
  void turn(ProxyClient& client, Done done) {
    for (int idle = 0; !done() && idle < 100;) {
      std::vector<pollfd> fds;
      if (server) server->fds(fds, now);
      if (client.fd() >= 0) fds.push_back({client.fd(), client.events(), 0});
      idle = ::poll(fds.data(), fds.size(), 20) > 0 ? 0 : idle + 1;
      if (server) server->on_ready(fds, now);
      client.run(now);
      if (idle > 3 && client.next_wakeup() <= now + Duration::millis(200))
        now = later(now, client.next_wakeup());
    }
    EXPECT_TRUE(done()) << (outcomes.empty() ? "" : outcomes.back().why);
  }
  /// The client has nothing to do now.
  void settle(ProxyClient& client, size_t outcomes_so_far) {
    turn(client, [&] { return outcomes.size() >= outcomes_so_far; });
  }

  matchrdma::test::TestFolder folder;
  Daemon daemon;
  service::ViewBoard board;
  service::Commands commands{daemon, board};
  std::unique_ptr<service::LineServer> server;
  uint16_t port = 0;
  Instant now{};
  std::vector<PairOutcome> outcomes;
};

TEST_F(Register, RegistersAndUnregisters) {
  const auto client = client_with("host-a " + kKey);
  client->add(pair_of(), tell(), now);
  settle(*client, 1);
  EXPECT_TRUE(outcomes[0].done);
  EXPECT_EQ(daemon.asked, std::vector<std::string>{"register"});
  const Registration& r = daemon.pair.reg;
  EXPECT_EQ(ip_text(r.a.ip), "10.0.0.1");
  EXPECT_EQ(ip_text(r.b.ip), "10.0.1.1");
  EXPECT_EQ(r.a.qpn, Qpn{17});
  EXPECT_EQ(r.b.start, Psn{200});
  EXPECT_TRUE(r.a.has_start && r.b.has_start);
  EXPECT_EQ(r.path_mtu, 4096u);
  client->remove(pair_of(), tell(), now);
  settle(*client, 2);
  EXPECT_TRUE(outcomes[1].done && outcomes[1].remove);
  EXPECT_EQ(daemon.asked.back(), "unregister");
  EXPECT_EQ(client->pairs(), 0u);
}

// Done is what both proxies have done; until then it asks again.
TEST_F(Register, AsksUntilBothProxiesAreDone) {
  daemon.rounds = 4;
  const auto client = client_with("host-a " + kKey);
  client->add(pair_of(), tell(), now);
  settle(*client, 1);
  EXPECT_TRUE(outcomes[0].done);
  EXPECT_EQ(daemon.asked.size(), 4u);
}

TEST_F(Register, ManyPairsGoOverOneConnection) {
  const auto client = client_with("host-a " + kKey);
  for (uint32_t i = 0; i < 100; ++i) client->add(pair_of(2 * i), tell(), now);
  for (uint32_t i = 0; i < 100; ++i) client->add(pair_of(2 * i), tell(), now);
  settle(*client, 100);
  EXPECT_EQ(daemon.asked.size(), 100u) << "the same pair again is the same pair";
  EXPECT_EQ(server->counters().accepted, 1u);
}

TEST_F(Register, TheLeaseIsRenewed) {
  const auto client = client_with("host-a " + kKey);
  client->add(pair_of(), tell(), now);
  settle(*client, 1);
  for (size_t renewals = 1; renewals <= 3; ++renewals) {
    // The connection is given up meanwhile: the listener has places for few.
    now = client->next_wakeup();
    client->run(now);
    EXPECT_EQ(client->fd(), -1);
    now = client->next_wakeup();
    turn(*client, [&] { return daemon.asked.size() == 1 + renewals; });
    turn(*client, [&] { return client->next_wakeup() > now; });
  }
  EXPECT_EQ(now.ns, 3 * Duration::seconds(120).ns);
  EXPECT_EQ(outcomes.size(), 1u) << "nothing has changed";
  client->forget(pair_of());
  EXPECT_EQ(client->pairs(), 0u);
}

TEST_F(Register, AWrongKeyIsTold) {
  for (const std::string& line : {"host-a " + kOtherKey, "host-b " + kKey}) {
    outcomes.clear();
    const auto client = client_with(line);
    client->add(pair_of(), tell(), now);
    settle(*client, 1);
    EXPECT_FALSE(outcomes[0].done);
    EXPECT_NE(outcomes[0].why.find("the same line IDENTITY HEXKEY"), std::string::npos) << outcomes[0].why;
    EXPECT_NE(outcomes[0].why.find("registration listener 127.0.0.1 port"), std::string::npos);
  }
  EXPECT_TRUE(daemon.asked.empty());
}

TEST_F(Register, ARefusalIsToldOnceAndTriedAgain) {
  const auto client = client_with("host-a " + kKey);
  daemon.refuses = "10.0.0.1 is not on the LAN of this proxy";
  client->add(pair_of(), tell(), now);
  settle(*client, 1);
  EXPECT_FALSE(outcomes[0].done);
  EXPECT_EQ(outcomes[0].why, "the proxy refuses: 10.0.0.1 is not on the LAN of this proxy");
  daemon.refuses.clear();
  now = now + Duration::seconds(120);
  settle(*client, 2);
  EXPECT_TRUE(outcomes[1].done);
  // What the listener itself refuses.
  ProxiedPair nonsense = pair_of();
  nonsense.local.qpn = 1;
  client->add(nonsense, tell(), now);
  settle(*client, 3);
  EXPECT_NE(outcomes[2].why.find("QPs 0 and 1 carry management"), std::string::npos) << outcomes[2].why;
}

// A proxy that is restarted: what fails is told, and it comes back without anybody's doing.
TEST_F(Register, TheListenerGoesAndComesBack) {
  const auto client = client_with("host-a " + kKey);
  server.reset();
  client->add(pair_of(), tell(), now);
  settle(*client, 1);
  EXPECT_FALSE(outcomes[0].done);
  EXPECT_NE(outcomes[0].why.find("Connection refused"), std::string::npos) << outcomes[0].why;
  const Instant first = client->next_wakeup();
  EXPECT_EQ((first - now).ns, Duration::seconds(1).ns);
  now = first;
  client->run(now);
  turn(*client, [&] { return client->fd() == -1; });
  EXPECT_EQ((client->next_wakeup() - now).ns, Duration::seconds(2).ns) << "less and less often";
  EXPECT_EQ(outcomes.size(), 1u) << "told once";
  listen(port);
  now = client->next_wakeup();
  settle(*client, 2);
  EXPECT_TRUE(outcomes[1].done);
  // It goes in the middle of an idle connection.
  server.reset();
  turn(*client, [&] { return client->fd() == -1; });
  EXPECT_EQ(outcomes.size(), 2u);
  listen(port);
  daemon.asked.clear();
  now = client->next_wakeup();
  turn(*client, [&] { return daemon.asked.size() == 1; });
}

TEST_F(Register, AListenerThatSaysNothingIsGivenUp) {
  server.reset();
  auto mute = listen_at(*socket_address("127.0.0.1", port), 8);
  ASSERT_TRUE(mute.ok());
  const auto client = client_with("host-a " + kKey);
  client->add(pair_of(), tell(), now);
  client->run(now);
  ASSERT_GE(client->fd(), 0);
  for (int i = 0; i < 10; ++i) {
    pollfd p{client->fd(), client->events(), 0};
    ::poll(&p, 1, 20);
    client->run(now);
  }
  now = client->next_wakeup();
  EXPECT_EQ(now.ns, Duration::seconds(5).ns);
  client->run(now);
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_NE(outcomes[0].why.find("has not shown a key in time"), std::string::npos) << outcomes[0].why;
}

/// Two ends that have said HELLO, without a socket between them.
struct Sessions {
  explicit Sessions(Instant now) : a(test::hello(1), {}, now), b(test::hello(2), {}, now) { move(now); }
  void move(Instant now) {
    for (int i = 0; i < 4; ++i) {
      carry(a, b, now);
      carry(b, a, now);
    }
  }
  static void carry(ControlSession& from, ControlSession& to, Instant now) {
    const std::vector<uint8_t> bytes(from.output().begin(), from.output().end());
    from.sent(bytes.size());
    to.receive(bytes, now);
  }
  ControlSession a, b;
};

struct Relay : Register {
  /// Until A has so many outcomes.
  std::vector<RelayOutcome> heard(RegisterRelay& a, RegisterRelay& b, ProxyClient& proxy, size_t n) {
    std::vector<RelayOutcome> all;
    turn(proxy, [&] {
      a.run(sessions.a, now);
      b.run(sessions.b, now);
      sessions.move(now);
      while (auto m = sessions.a.next()) EXPECT_TRUE(a.take(*m, now));
      while (auto m = sessions.b.next()) EXPECT_TRUE(b.take(*m, now));
      while (auto o = a.next()) all.push_back(*o);
      return all.size() >= n;
    });
    return all;
  }
  Sessions sessions{Instant{}};
};

TEST_F(Relay, ThePeersProxyIsAskedWithItsEndFirst) {
  const auto proxy = client_with("host-a " + kKey);
  RegisterRelay a(nullptr), b(proxy.get());
  const uint32_t request = a.ask({pair_of().remote, pair_of().local, 2048}, false);
  auto o = heard(a, b, *proxy, 1);
  EXPECT_TRUE(o[0].done);
  EXPECT_EQ(o[0].request, request);
  EXPECT_EQ(ip_text(daemon.pair.reg.a.ip), "10.0.0.1");
  EXPECT_EQ(daemon.pair.reg.path_mtu, 2048u);
  EXPECT_EQ(proxy->pairs(), 1u);
  a.ask({pair_of().remote, pair_of().local, 2048}, true);
  o = heard(a, b, *proxy, 1);
  EXPECT_TRUE(o[0].done);
  EXPECT_EQ(daemon.asked, (std::vector<std::string>{"register", "unregister"}));
  EXPECT_EQ(proxy->pairs(), 0u);
}

TEST_F(Relay, BothWays) {
  const auto one = client_with("host-a " + kKey);
  RegisterRelay a(one.get()), b(one.get());
  a.ask(pair_of(), false);
  EXPECT_TRUE(heard(a, b, *one, 1)[0].done);
  b.ask(pair_of(40), false);
  EXPECT_TRUE(heard(b, a, *one, 1)[0].done);
  EXPECT_EQ(one->pairs(), 2u);
}

TEST_F(Relay, RefusalsComeBack) {
  const auto proxy = client_with("host-a " + kKey);
  RegisterRelay a(nullptr), without(nullptr), with(proxy.get());
  a.ask(pair_of(), false);
  EXPECT_EQ(heard(a, without, *proxy, 1)[0].why, "has no proxy to register with");
  daemon.refuses = std::string(1000, 'x') + "\n";
  a.ask(pair_of(), false);
  const auto o = heard(a, with, *proxy, 1);
  EXPECT_FALSE(o[0].done);
  EXPECT_EQ(o[0].why.size(), kMaxControlText);
}

// Of a peer that is gone nothing is renewed, and nothing of it is called.
TEST_F(Relay, APeerThatIsGoneIsForgotten) {
  const auto proxy = client_with("host-a " + kKey);
  RegisterRelay a(nullptr);
  {
    RegisterRelay b(proxy.get());
    a.ask(pair_of(), false);
    EXPECT_TRUE(heard(a, b, *proxy, 1)[0].done);
    EXPECT_EQ(proxy->pairs(), 1u);
  }
  EXPECT_EQ(proxy->pairs(), 0u);
  const uint32_t request = a.ask(pair_of(), false);
  a.peer_gone();
  const auto o = a.next();
  ASSERT_TRUE(o);
  EXPECT_EQ(o->request, request);
  EXPECT_FALSE(o->done);
}

}  // namespace
}  // namespace matchrdma::host
