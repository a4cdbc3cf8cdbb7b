#include "dataplane/io/idle.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "dataplane/base/check.h"
#include "dataplane/io/packet_sockets.h"

namespace matchrdma::io {
namespace {

constexpr size_t kMaxWatched = 64;
/// Going to sleep and coming back costs more than this.
constexpr Duration kNotWorthSleeping = Duration::micros(3);
constexpr Duration kLongestSleep = Duration::seconds(1);

timespec time_of(Duration d) { return {.tv_sec = d.ns / 1'000'000'000, .tv_nsec = d.ns % 1'000'000'000}; }

}  // namespace

Result<std::unique_ptr<Idle>> Idle::create(const Clock& clock) {
  const int event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (event < 0)
    return Error{std::string("no eventfd: ") + std::strerror(errno) + "; raise the limit of open files"};
  return std::unique_ptr<Idle>(new Idle(clock, event));
}

Idle::~Idle() { close(event_); }

void Idle::watch(const Port& port, uint16_t worker) {
  if (!port.abilities().wakes) must_poll_ = true;
  for (int fd : port.wake_descriptors(worker)) watched_.push_back({fd, true});
  MRDMA_CHECK(watched_.size() < kMaxWatched);
}

void Idle::watch(int fd) {
  watched_.push_back({fd, false});
  MRDMA_CHECK(watched_.size() < kMaxWatched);
}

void Idle::wait(Instant deadline) {
  if (!timers_precise_) {
    // The kernel may delay a thread's timers by 50 us to save energy unless it asks not to.
    prctl(PR_SET_TIMERSLACK, 1000UL);
    timers_precise_ = true;
  }
  if (least_.ns > 0) {
    const timespec least = time_of(least_);
    nanosleep(&least, nullptr);
  }
  const Instant now = clock_.now();
  Duration time = deadline.is_never() ? kLongestSleep : std::min(deadline - now, kLongestSleep);
  if (must_poll_) {
    time = std::min(time, interval_);
    interval_ = std::min(interval_ * 2, kLongest);
  }
  if (time < kNotWorthSleeping) return;

  std::array<pollfd, kMaxWatched + 1> fds;
  fds[0] = {.fd = event_, .events = POLLIN, .revents = 0};
  for (size_t i = 0; i < watched_.size(); ++i)
    fds[i + 1] = {.fd = watched_[i].fd, .events = POLLIN, .revents = 0};
  const timespec timeout = time_of(time);
  ++sleeps_;
  if (ppoll(fds.data(), watched_.size() + 1, &timeout, nullptr) <= 0) return;
  for (size_t i = 0; i < watched_.size(); ++i)
    if ((fds[i + 1].revents & POLLERR) != 0 && watched_[i].traffic) clear_socket_error(watched_[i].fd);
  if ((fds[0].revents & POLLIN) != 0) {
    uint64_t count = 0;
    if (read(event_, &count, sizeof count) < 0) return;
    // From here on a wake() writes again; what was handed over before it, the worker finds now.
    woken_.store(false);
  }
}

void Idle::wake() {
  if (woken_.exchange(true)) return;
  const uint64_t one = 1;
  // It cannot fail: at most one write stands unread.
  MRDMA_CHECK(write(event_, &one, sizeof one) == sizeof one);
}

}  // namespace matchrdma::io
