#include "controlplane/service/line_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <filesystem>
#include <fstream>

#include "controlplane/service/listeners.h"
#include "controlplane/service/test_daemon.h"

namespace matchrdma::service {
namespace {

constexpr const char* kStatus = "{\"v\":1,\"cmd\":\"show\",\"what\":\"status\"}\n";

/// A server at a socket of its own, and the loop that drives it; time is the test's.
struct LineServerTest : testing::Test {
  TestDaemon daemon;
  ViewBoard board;
  Commands commands{daemon, board};
  std::string folder = testing::TempDir() + "svc" + std::to_string(::getpid());
  AdminSocketOptions options;
  std::unique_ptr<LineServer> server;
  Instant now;

  void SetUp() override {
    std::filesystem::create_directories(folder);
    options.path = folder + "/admin.sock";
    board.publish(test_view());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void open() {
    auto r = open_admin_socket(options, commands);
    ASSERT_TRUE(r.ok()) << r.error();
    server = std::move(*r);
  }
  FileDescriptor client() const {
    FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
    sockaddr_un a{};
    a.sun_family = AF_UNIX;
    options.path.copy(a.sun_path, sizeof a.sun_path - 1);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&a), sizeof a), 0);
    return fd;
  }
  void turn(int times = 1) {
    for (int i = 0; i < times; ++i) {
      std::vector<pollfd> fds;
      server->fds(fds, now);
      ::poll(fds.data(), fds.size(), 0);
      server->on_ready(fds, now);
    }
  }
  static void say(const FileDescriptor& fd, const std::string& text) {
    EXPECT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  /// What came; "" if nothing, "EOF" if the server has closed.
  static std::string heard(const FileDescriptor& fd) {
    std::string text(1 << 20, '\0');
    const ssize_t n = ::recv(fd.get(), text.data(), text.size(), MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno == ECONNRESET)) return "EOF";
    text.resize(n < 0 ? 0 : static_cast<size_t>(n));
    return text;
  }
};

TEST_F(LineServerTest, AnswersInOrder) {
  open();
  const FileDescriptor c = client();
  say(c, std::string(kStatus) + "\r\n" + "nonsense\n" + kStatus);
  turn(10);
  const std::string text = heard(c);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4) << text;
  const size_t blank = text.find("an empty line"), nonsense = text.find("is not JSON");
  EXPECT_TRUE(blank != std::string::npos && nonsense != std::string::npos && blank < nonsense) << text;
}

TEST_F(LineServerTest, SocketIsForItsGroupAlone) {
  open();
  struct stat s {};
  ASSERT_EQ(::stat(options.path.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 07777, 0660u);
  options.group = "no-such-group";
  options.path += "2";
  const auto r = open_admin_socket(options, commands);
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.error().find("groupadd"), std::string::npos);
}

TEST_F(LineServerTest, OnlyTheSocketOfADeadDaemonIsReplaced) {
  open();
  const auto second = open_admin_socket(options, commands);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().find("another daemon listens"), std::string::npos);
  server.reset();
  open();
  options.path = folder + "/file";
  std::ofstream(options.path) << "precious";
  const auto r = open_admin_socket(options, commands);
  ASSERT_FALSE(r.ok());
  EXPECT_TRUE(std::filesystem::exists(options.path));
  options.path = folder + "/none/admin.sock";
  EXPECT_FALSE(open_admin_socket(options, commands).ok());
  options.path = std::string(200, 'x');
  EXPECT_FALSE(open_admin_socket(options, commands).ok());
}

TEST_F(LineServerTest, RequestsAreBounded) {
  open();
  const FileDescriptor c = client();
  for (int i = 0; i < 5; ++i) {
    const std::string part(16 << 10, 'x');
    ::send(c.get(), part.data(), part.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    turn(3);
  }
  EXPECT_NE(heard(c).find("longer than 65536 bytes"), std::string::npos);
  turn();
  EXPECT_EQ(server->clients(), 0u);
}

TEST_F(LineServerTest, HalfARequestIsNotWaitedForEver) {
  open();
  const FileDescriptor c = client();
  turn();
  say(c, "{\"v\":1,");
  turn();
  EXPECT_EQ(server->clients(), 1u);
  now = now + Duration::seconds(9);
  say(c, "\"cmd\"");  // drips, but does not end
  turn();
  EXPECT_EQ(server->clients(), 1u);
  EXPECT_EQ(server->next_wakeup(), Instant{} + Duration::seconds(10));
  now = now + Duration::seconds(1);
  turn();
  EXPECT_EQ(server->clients(), 0u);
  EXPECT_EQ(heard(c), "EOF");
}

TEST_F(LineServerTest, IdleClientsGo) {
  open();
  const FileDescriptor c = client();
  turn();
  now = now + Duration::seconds(299);
  turn();
  EXPECT_EQ(server->clients(), 1u);
  now = now + Duration::seconds(1);
  turn();
  EXPECT_EQ(server->clients(), 0u);
}

TEST_F(LineServerTest, ClientsAreBounded) {
  options.limits.max_clients = 2;
  open();
  const FileDescriptor a = client(), b = client();
  say(a, "{");
  say(b, "{");  // requests under way
  turn(2);
  const FileDescriptor c = client();
  turn(2);
  EXPECT_EQ(server->clients(), 2u);
  EXPECT_EQ(heard(c), "EOF");
  EXPECT_EQ(server->counters().turned_away, 1u);
}

TEST_F(LineServerTest, TheLongestIdleClientGivesWay) {
  options.limits.max_clients = 2;
  open();
  const FileDescriptor busy = client(), idle = client();
  turn(2);
  now = now + Duration::seconds(1);
  say(busy, "{");
  turn(2);
  const FileDescriptor c = client();
  turn(2);
  EXPECT_EQ(server->clients(), 2u);
  EXPECT_EQ(heard(idle), "EOF");
  EXPECT_EQ(server->counters().turned_away, 0u);
}

TEST_F(LineServerTest, NobodyGivesWayToStrangers) {
  options.limits.max_clients = 2;
  options.limits.idle_gives_way = false;
  open();
  const FileDescriptor a = client(), b = client();
  turn(2);
  const FileDescriptor c = client();
  turn(2);
  EXPECT_EQ(heard(c), "EOF");
  EXPECT_EQ(server->counters().turned_away, 1u);
}

TEST_F(LineServerTest, AcceptsAreRateLimited) {
  options.limits.accepts_per_second = 2;
  open();
  const FileDescriptor a = client(), b = client(), c = client();
  turn(3);
  EXPECT_EQ(server->clients(), 2u);
  EXPECT_EQ(server->next_wakeup(), Instant{} + Duration::seconds(1));
  now = now + Duration::seconds(1);
  turn();
  EXPECT_EQ(server->clients(), 3u);
}

// One that asks for much and reads nothing: its reply waits in its own session, all others are served.
TEST_F(LineServerTest, ASlowClientHoldsUpNobody) {
  board.publish(test_view(2000));
  open();
  const FileDescriptor slow = client(), quick = client();
  turn();
  for (int i = 0; i < 20; ++i) say(slow, "{\"v\":1,\"cmd\":\"show\",\"what\":\"flows\"}\n");
  turn(20);
  say(quick, kStatus);
  turn(3);
  EXPECT_NE(heard(quick).find("\"ok\":true"), std::string::npos);
  EXPECT_EQ(server->clients(), 2u);
  now = now + Duration::seconds(10);
  turn();
  EXPECT_EQ(server->clients(), 1u) << "a reply that nobody takes ends the session";
  size_t taken = 0;
  for (std::string text; (text = heard(slow)) != "EOF" && !text.empty();) taken += text.size();
  EXPECT_LT(taken, size_t{4} << 20);
}

TEST_F(LineServerTest, PendingActionsAreAskedAgainAndEndWithTheClient) {
  daemon.rounds = 4;
  open();
  const FileDescriptor c = client();
  say(c, "{\"v\":1,\"cmd\":\"drain\"}\n");
  turn(3);
  EXPECT_EQ(heard(c), "");
  EXPECT_LE(server->next_wakeup(), now + Duration::millis(5));
  turn(3);
  EXPECT_NE(heard(c).find("\"done\":true"), std::string::npos);
  daemon.rounds = 1000;
  {
    const FileDescriptor gone = client();
    say(gone, "{\"v\":1,\"cmd\":\"drain\"}\n");
    turn(2);
    EXPECT_EQ(server->clients(), 2u);
  }
  turn(2);
  EXPECT_EQ(server->clients(), 1u) << "poll() reports a hang-up for ever, so nobody may wait on";
}

TEST_F(LineServerTest, ARequestIsServedThoughTheClientSaysNoMore) {
  open();
  const FileDescriptor c = client();
  say(c, kStatus);
  ::shutdown(c.get(), SHUT_WR);
  turn(3);
  EXPECT_NE(heard(c).find("\"ok\":true"), std::string::npos);
  turn(2);
  EXPECT_EQ(server->clients(), 0u);
}

TEST_F(LineServerTest, ListenersNeedTheirPskFile) {
  RegisterListenerOptions o;
  o.psk_file = folder + "/none";
  EXPECT_NE(open_register_listener(o, commands).error().find("PSK file " + o.psk_file + ": cannot be opened"),
            std::string::npos);
  o.address = "localhost";
  EXPECT_NE(open_register_listener(o, commands).error().find("not an IP address"), std::string::npos);
}

}  // namespace
}  // namespace matchrdma::service
