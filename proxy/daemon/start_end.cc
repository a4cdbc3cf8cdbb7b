#include "proxy/daemon/start_end.h"

#include <csignal>
#include <ctime>

namespace matchrdma::daemon {
namespace {

void watch(const std::stop_token& stop) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  constexpr timespec kLook{0, 20'000'000};
  while (!stop.stop_requested()) {
    const int taken = sigtimedwait(&set, nullptr, &kLook);
    if (taken <= 0) continue;
    // As if it had never been blocked, so that whoever waits for us sees the signal.
    std::signal(taken, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    std::raise(taken);
  }
}

}  // namespace

EndsAtOnce::EndsAtOnce() : watch_(watch) {}

}  // namespace matchrdma::daemon
