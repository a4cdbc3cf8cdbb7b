#include "proxy/daemon/start_end.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>

namespace matchrdma::daemon {
namespace {

void blocked(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

[[noreturn]] void start_that_never_ends(int signal) {
  blocked(signal);
  const EndsAtOnce while_starting;
  kill(getpid(), signal);
  const timespec long_time{60, 0};
  nanosleep(&long_time, nullptr);
  std::_Exit(1);
}

TEST(EndsAtOnce, BlockedSignalsEndAStart) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(start_that_never_ends(SIGTERM), ::testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(start_that_never_ends(SIGINT), ::testing::KilledBySignal(SIGINT), "");
}

TEST(EndsAtOnce, LeavesOtherSignalsAlone) {
  blocked(SIGHUP);
  {
    const EndsAtOnce while_starting;
    kill(getpid(), SIGHUP);
  }
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGHUP), 1);
}

}  // namespace
}  // namespace matchrdma::daemon
