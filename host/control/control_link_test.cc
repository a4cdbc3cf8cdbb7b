// Links over loopback, in virtual time: only the kernel's own delays are real.
#include "host/control/control_link.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <fstream>

#include "dataplane/base/test_folder.h"
#include "host/control/test_hello.h"

namespace matchrdma::host {
namespace {

const std::string kKey(64, 'a'), kOtherKey(64, 'b');

struct Link : testing::Test {
  Link() {
    auto keys = TlsPskServer::load(file("server", "job-1 " + kKey + "\n"));
    EXPECT_TRUE(keys.ok());
    auto opened = ControlListener::open("127.0.0.1", 0, std::make_shared<TlsPskServer>(std::move(*keys)),
                                        {.hello = test::hello(1)});
    EXPECT_TRUE(opened.ok());
    listener.emplace(std::move(*opened));
  }
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = folder / name;
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), 0600), 0);
    return path;
  }
  std::shared_ptr<const TlsPskClient> key(const std::string& line) {
    auto c = TlsPskClient::load(file("client", line + "\n"), "");
    EXPECT_TRUE(c.ok());
    return std::make_shared<TlsPskClient>(std::move(*c));
  }
  void connect(const std::string& line = "job-1 " + kKey) {
    auto link = ControlLink::connect("127.0.0.1", listener->port(), key(line), {.hello = test::hello(2)}, now);
    ASSERT_TRUE(link.ok());
    client = std::move(*link);
  }
  /// A peer that is no ControlLink.
  FileDescriptor raw() {
    FileDescriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    auto address = *socket_address("127.0.0.1", listener->port());
    EXPECT_EQ(::connect(fd.get(), address.generic(), address.size), 0);
    turn([this] { return server != nullptr; });
    return fd;
  }
  /// Both run as a poll() loop would run them, until `done` or nothing moves for 2 s.
  template <class Done>
  void turn(Done done) {
    for (int idle = 0; !done() && idle < 40;) {
      std::vector<pollfd> fds{{listener->fd(), POLLIN, 0}};
      for (const auto& link : {client.get(), server.get()})
        if (link != nullptr && !link->over()) fds.push_back({link->fd(), link->events(), 0});
      idle = ::poll(fds.data(), fds.size(), 50) > 0 ? 0 : idle + 1;
      if (!server) server = listener->accept(now);
      if (client) client->run(now);
      if (server) server->run(now);
    }
    EXPECT_TRUE(done()) << (client ? client->reason() : "") << (server ? server->reason() : "");
  }
  void open() {
    connect();
    turn([this] { return client->open() && server && server->open(); });
  }
  std::string with_server() const {
    return "control connection with 127.0.0.1 port " + std::to_string(listener->port());
  }

  matchrdma::test::TestFolder folder;
  Instant now{};
  std::optional<ControlListener> listener;
  std::unique_ptr<ControlLink> client, server;
};

TEST_F(Link, CarriesMessagesBothWays) {
  open();
  EXPECT_EQ(client->session()->peer(), test::hello(1));
  EXPECT_EQ(server->session()->peer(), test::hello(2));
  ASSERT_TRUE(client->session()->send(Fence{1, 2}, now));
  const Fenced large{1, 2, 3, std::vector<uint8_t>(kMaxFenceDetail, 9)};
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(server->session()->send(large, now));
  std::optional<ControlMessage> first;
  int got = 0;
  turn([&] {
    if (!first) first = server->session()->next();
    while (const auto m = client->session()->next()) got += *m == ControlMessage(large);
    return first && got == 100;
  });
  EXPECT_EQ(first, ControlMessage(Fence{1, 2}));
}

TEST_F(Link, GoodByeArrivesAtOnce) {
  open();
  client->session()->end("the job is done", now);
  turn([this] { return client->over() && server->over(); });
  EXPECT_TRUE(client->orderly() && server->orderly());
  EXPECT_EQ(client->reason(), with_server() + ": this end said good-bye: the job is done");
  EXPECT_NE(server->reason().find(": the other end said good-bye: the job is done"), std::string::npos);
  EXPECT_EQ(client->fd(), -1);
  EXPECT_TRUE(client->next_wakeup().is_never());
}

TEST_F(Link, AWrongKeyIsNamedAtBothEnds) {
  for (const std::string& line : {"job-1 " + kOtherKey, "job-2 " + kKey}) {
    connect(line);
    turn([this] { return client->over() && server && server->over(); });
    EXPECT_EQ(client->reason(),
              with_server() +
                  ": the other end refused the key; the same line IDENTITY HEXKEY has to stand in the key "
                  "files of both ends (this end uses \"" +
                  line.substr(0, 5) + "\")");
    EXPECT_NE(server->reason().find(": the other end has another key; the same line"), std::string::npos);
    EXPECT_EQ(server->session(), nullptr);
    server.reset();
  }
}

TEST_F(Link, NobodyListens) {
  const uint16_t port = listener->port();
  auto elsewhere = ControlListener::open("127.0.0.1", 0, nullptr, {.hello = test::hello(1)});
  listener.emplace(std::move(*elsewhere));
  auto link = ControlLink::connect("127.0.0.1", port, key("job-1 " + kKey), {.hello = test::hello(2)}, now);
  ASSERT_TRUE(link.ok());
  client = std::move(*link);
  turn([this] { return client->over(); });
  EXPECT_EQ(client->reason(), "control connection with 127.0.0.1 port " + std::to_string(port) +
                                  ": Connection refused; is the other end running, and is this its port?");
}

TEST_F(Link, AddressesAreNumbers) {
  EXPECT_EQ(ControlLink::connect("localhost", 1, nullptr, {.hello = test::hello(1)}, now).error(),
            "control connection: \"localhost\" is not an IP address");
  EXPECT_EQ(ControlListener::open("::g", 1, nullptr, {.hello = test::hello(1)}).error(),
            "control listener: \"::g\" is not an IP address");
  EXPECT_EQ(
      ControlListener::open("127.0.0.1", listener->port(), nullptr, {.hello = test::hello(1)}).error(),
      "control listener 127.0.0.1 port " + std::to_string(listener->port()) + ": bind: Address already in use");
}

TEST_F(Link, WhoShowsNoKeyGoes) {
  const FileDescriptor fd = raw();
  EXPECT_EQ(server->next_wakeup(), now + Duration::seconds(5));
  now = now + Duration::seconds(5);
  server->run(now);
  EXPECT_NE(server->reason().find(": the other end took the connection, but has not shown a key in time"),
            std::string::npos);
}

TEST_F(Link, AServerThatDoesNotAnswerIsGivenUp) {
  connect();
  client->run(now);
  now = now + Duration::seconds(5);
  client->run(now);
  EXPECT_NE(client->reason().find("in time"), std::string::npos);
}

TEST_F(Link, GarbageEndsTheConnectionAlone) {
  const FileDescriptor fd = raw();
  const std::string garbage(5000, '\x17');
  ASSERT_EQ(::send(fd.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL), 5000);
  turn([this] { return server->over(); });
  EXPECT_NE(server->reason().find(": the other end does not speak TLS 1.3 with a key"), std::string::npos);
  server.reset();
  open();
}

TEST_F(Link, AProcessThatIsGoneIsNamed) {
  open();
  client.reset();
  turn([this] { return server->over(); });
  EXPECT_FALSE(server->orderly());
  EXPECT_NE(server->reason().find(": the other end closed the connection without a word: its process is gone"),
            std::string::npos);
}

// The other host lost its power: nothing comes any more, and nothing says so.
TEST_F(Link, AHalfOpenConnectionEnds) {
  open();
  for (int i = 0; i < 11 && !server->over(); ++i) {
    now = now + Duration::seconds(1);
    server->run(now);
  }
  turn([this] {
    now = now + Duration::millis(100);
    if (!server->over()) server->run(now);
    return server->over();
  });
  EXPECT_NE(server->reason().find(": the other end has said nothing for 1"), std::string::npos)
      << server->reason();
}

TEST_F(Link, WhatTlsHoldsBackIsNotForgotten) {
  open();
  for (size_t i = 0; i < 2 * ControlSession::kInboxLimit; ++i)
    ASSERT_TRUE(client->session()->send(Fence{1, 2}, now));
  turn([this] { return client->session()->output().empty() && !server->session()->wants_input(); });
  size_t got = 0;
  while (server->session()->next()) ++got;
  turn([&] {
    while (server->session()->next()) ++got;
    return got == 2 * ControlSession::kInboxLimit;
  });
}

}  // namespace
}  // namespace matchrdma::host
