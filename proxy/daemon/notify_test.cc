#include "proxy/daemon/notify.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>

#include "dataplane/base/test_folder.h"

namespace matchrdma {
namespace {

/// The manager's end.
class Manager {
 public:
  /// A path, or @name in the abstract space.
  explicit Manager(const std::string& name) : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un a{};
    a.sun_family = AF_UNIX;
    std::memcpy(a.sun_path, name.data(), name.size());
    if (name[0] == '@') a.sun_path[0] = '\0';
    const size_t size = offsetof(sockaddr_un, sun_path) + name.size() + (name[0] == '@' ? 0 : 1);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&a), static_cast<socklen_t>(size)), 0);
  }
  /// The next message; empty when there is none.
  std::string heard() const {
    char text[4096];
    const ssize_t n = ::recv(fd_.get(), text, sizeof text, MSG_DONTWAIT);
    return n < 0 ? "" : std::string(text, static_cast<size_t>(n));
  }

 private:
  FileDescriptor fd_;
};

struct NotifyTest : testing::Test {
  ~NotifyTest() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
  }
  static void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }
  static Notify notify() {
    auto n = Notify::from_environment();
    EXPECT_TRUE(n) << n.error();
    return std::move(*n);
  }
  static std::string complaint() {
    const auto n = Notify::from_environment();
    return n ? "" : n.error();
  }
  test::TestFolder folder;
};

TEST_F(NotifyTest, ALifeIsToldStepByStep) {
  for (const std::string& name : {folder / "notify", "@matchrdmad-test-" + std::to_string(::getpid())}) {
    const Manager manager(name);
    set("NOTIFY_SOCKET", name);
    Notify n = notify();
    EXPECT_TRUE(n.connected());
    EXPECT_EQ(manager.heard(), "");
    n.status("opening ports");
    EXPECT_EQ(manager.heard(), "STATUS=opening ports\n");
    n.ready("2 spans, 4 workers");
    EXPECT_EQ(manager.heard(), "READY=1\nSTATUS=2 spans, 4 workers\n");
    n.watchdog();
    EXPECT_EQ(manager.heard(), "WATCHDOG=1\n");
    n.reloading(Duration::micros(123'456'789) + Duration::nanos(999));
    EXPECT_EQ(manager.heard(), "RELOADING=1\nMONOTONIC_USEC=123456789\n");
    n.ready("line 3: no such key\nthe old configuration stays");
    EXPECT_EQ(manager.heard(), "READY=1\nSTATUS=line 3: no such key the old configuration stays\n");
    n.stopping("SIGTERM");
    EXPECT_EQ(manager.heard(), "STOPPING=1\nSTATUS=SIGTERM\n");
    EXPECT_EQ(manager.heard(), "");
  }
}

TEST_F(NotifyTest, WithoutAManagerNothingIsSaid) {
  Notify n = notify();
  EXPECT_FALSE(n.connected());
  EXPECT_FALSE(n.watchdog_interval());
  n.ready("");
  n.watchdog();
}

TEST_F(NotifyTest, ChildrenDoNotSpeakForUs) {
  set("NOTIFY_SOCKET", folder / "notify");
  set("WATCHDOG_USEC", "1000");
  set("WATCHDOG_PID", "1");
  notify();
  for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"})
    EXPECT_EQ(std::getenv(name), nullptr);
}

TEST_F(NotifyTest, TheWatchdogIsServedTwiceAsOftenAsAsked) {
  const auto interval = [&](const std::string& usec, const std::string& pid) {
    set("NOTIFY_SOCKET", folder / "notify");
    set("WATCHDOG_USEC", usec);
    if (!pid.empty()) set("WATCHDOG_PID", pid);
    return notify().watchdog_interval();
  };
  EXPECT_EQ(interval("10000000", ""), Duration::seconds(5));
  EXPECT_EQ(interval("10000000", std::to_string(::getpid())), Duration::seconds(5));
  EXPECT_EQ(interval("10000000", "1"), std::nullopt);  // another process is watched
}

TEST_F(NotifyTest, WhatCannotBeMeantIsRefused) {
  for (const std::string& name :
       {std::string("notify"), std::string("/"), std::string("@"), "/" + std::string(107, 'x')}) {
    set("NOTIFY_SOCKET", name);
    EXPECT_NE(complaint().find("NOTIFY_SOCKET="), std::string::npos) << name;
  }
  for (const char* usec : {"often", "-1", "0", "10s", "99999999999999999999"}) {
    set("NOTIFY_SOCKET", "/" + std::string(106, 'x'));
    set("WATCHDOG_USEC", usec);
    EXPECT_NE(complaint().find("not a number of microseconds"), std::string::npos) << usec;
  }
}

TEST_F(NotifyTest, AManagerThatIsGoneOrDeafDoesNotHoldUsUp) {
  set("NOTIFY_SOCKET", folder / "nobody");
  notify().ready("here");
  const Manager deaf(folder / "deaf");
  set("NOTIFY_SOCKET", folder / "deaf");
  Notify n = notify();
  for (int i = 0; i < 10'000; ++i) n.watchdog();
  EXPECT_EQ(deaf.heard(), "WATCHDOG=1\n");
}

TEST_F(NotifyTest, AStateIsToldEvenIfTheQueueWasFull) {
  const Manager manager(folder / "notify");
  set("NOTIFY_SOCKET", folder / "notify");
  Notify n = notify();
  for (int i = 0; i < 10'000; ++i) n.watchdog();
  n.ready("up");
  n.watchdog();  // full still
  while (!manager.heard().empty()) continue;
  n.watchdog();
  EXPECT_EQ(manager.heard(), "READY=1\nSTATUS=up\nWATCHDOG=1\n");
  n.watchdog();
  EXPECT_EQ(manager.heard(), "WATCHDOG=1\n");
}

}  // namespace
}  // namespace matchrdma
