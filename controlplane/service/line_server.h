#pragma once
// A listening socket and its clients, driven by the poll() loop of the control thread.
#include <poll.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "controlplane/service/line_session.h"

namespace matchrdma::service {

struct LineServerLimits {
  size_t max_clients = 16;
  /// A client that has waited longest without a request makes room for a new one. Not where strangers may
  /// connect.
  bool idle_gives_way = false;
  /// A client that has not shown who it is makes room for a new one: the oldest of the address that has most of
  /// them, so that one stranger keeps out nobody but itself.
  bool stranger_gives_way = false;
  /// New clients in a second; more wait in the kernel's queue.
  int64_t accepts_per_second = 1000;
  SessionLimits session{};
};

struct LineServerCounters {
  uint64_t accepted = 0;
  uint64_t turned_away = 0;  ///< too many clients
  uint64_t untrusted = 0;    ///< gone before they showed who they are
};

/// Duty: accepts up to its limits and runs the sessions. No thread of its own; no call waits. Call on_ready()
/// after each poll(), also when it timed out, and at next_wakeup() at the latest.
class LineServer {
 public:
  using MakeStream = std::function<std::unique_ptr<Stream>(FileDescriptor)>;

  LineServer(FileDescriptor listener, MakeStream make, Rights rights, const LineServerLimits& limits,
             Commands& commands);

  /// Appends what poll() shall watch.
  void fds(std::vector<pollfd>& out, Instant now) const;
  /// `polled` may hold the descriptors of others.
  void on_ready(std::span<const pollfd> polled, Instant now);
  Instant next_wakeup() const;

  size_t clients() const { return sessions_.size(); }
  const LineServerCounters& counters() const { return n_; }
  int listener() const { return listener_.get(); }

 private:
  void accept_some(Instant now);
  bool make_room();
  bool send_away(std::vector<LineSession>::iterator session);
  bool may_accept(Instant now) const { return accepts_left_ > 0 || now >= second_ends_; }

  FileDescriptor listener_;
  MakeStream make_;
  Rights rights_;
  LineServerLimits limits_;
  Commands* commands_;
  std::vector<LineSession> sessions_;
  int64_t accepts_left_;
  Instant second_ends_{INT64_MIN};
  LineServerCounters n_;
};

}  // namespace matchrdma::service
