#pragma once
// Ending the process while it starts.
#include <thread>

namespace matchrdma::daemon {

/// Duty: while it lives, SIGTERM and SIGINT end the process at once. Making pools may take a long time, and the
/// loop that takes these signals later does not run yet. They must be blocked in every thread.
class EndsAtOnce {
 public:
  EndsAtOnce();

 private:
  std::jthread watch_;
};

}  // namespace matchrdma::daemon
