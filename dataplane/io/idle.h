#pragma once
// Sleeping without missing anything.
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "dataplane/base/result.h"
#include "dataplane/base/time.h"
#include "dataplane/io/clock.h"
#include "dataplane/io/port.h"

namespace matchrdma::io {

/// Duty: lets a worker that found no work sleep until a port has traffic, another thread wakes it, or a
/// deadline comes. Ports that cannot wake are polled at growing intervals. Does not know what the worker does.
/// Everything but wake() is called by the worker's thread.
class Idle {
 public:
  static Result<std::unique_ptr<Idle>> create(const Clock& clock);
  ~Idle();
  Idle(const Idle&) = delete;
  Idle& operator=(const Idle&) = delete;

  /// Traffic of this port for `worker` ends the sleep.
  void watch(const Port& port, uint16_t worker);
  /// So does a readable descriptor.
  void watch(int fd);

  /// From now on a sleep lasts at least so long, whatever comes: packets gather meanwhile, and one wake-up
  /// serves them all (NICs call it interrupt coalescing). Deadlines are kept so much later.
  void coalesce(Duration least) { least_ = least; }

  /// Returns at the deadline at the latest, as precisely as the kernel's timers are; maybe earlier, for no
  /// reason.
  void wait(Instant deadline);
  /// The worker found work: ports that cannot wake are polled at short intervals again.
  void worked() { interval_ = kShortest; }
  /// Ends the sleep, or the next one. From any thread.
  void wake();
  uint64_t sleeps() const { return sleeps_; }

 private:
  static constexpr Duration kShortest = Duration::micros(50), kLongest = Duration::micros(250);
  Idle(const Clock& clock, int event) : clock_(clock), event_(event) {}

  struct Watched {
    int fd;
    bool traffic;
  };
  const Clock& clock_;
  int event_;
  std::atomic<bool> woken_{false};
  std::vector<Watched> watched_;
  bool must_poll_ = false;
  bool timers_precise_ = false;
  Duration interval_ = kShortest, least_;
  uint64_t sleeps_ = 0;
};

}  // namespace matchrdma::io
