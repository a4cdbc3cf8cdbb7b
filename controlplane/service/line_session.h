#pragma once
// One client: request lines in, reply lines out, in order.
#include <memory>
#include <optional>
#include <string>

#include "controlplane/service/commands.h"
#include "controlplane/tls/stream.h"

namespace matchrdma::service {

struct SessionLimits {
  size_t max_line = 64 << 10;  ///< bytes of one request
  /// To finish a request it began, to take a reply.
  Duration patience = Duration::seconds(10);
  Duration introduction = Duration::seconds(3);  ///< to show who it is
  Duration idle = Duration::seconds(300);        ///< without a request
};

/// Duty: one request at a time; the next is read only when the client has taken the reply, so a slow one keeps
/// one reply in memory and holds up nobody. Does not know what requests mean.
class LineSession {
 public:
  /// `address`: where the client is, for those who count them.
  LineSession(std::unique_ptr<Stream> stream, std::string address, Rights rights, const SessionLimits& limits,
              Instant now);

  int fd() const { return stream_->fd(); }
  short events() const;
  /// Moves what can be moved. `events`: what poll() said, 0 if nothing.
  void run(Commands& commands, short events, Instant now);
  /// When run() is due without an event.
  Instant next_wakeup() const;
  bool over() const { return over_; }
  bool trusted() const { return stream_->trusted(); }
  const std::string& address() const { return address_; }
  /// Nothing is under way, neither a request nor a reply.
  bool resting() const { return !pending_ && out_.empty() && in_.empty(); }
  /// When the client did something last.
  Instant progress() const { return progress_; }

 private:
  void receive(Instant now);
  void start(Commands& commands, Instant now);
  void answer(std::string line, Instant now);
  void send(Instant now);
  Instant deadline() const;
  bool has_request() const { return in_.find('\n') != std::string::npos || stream_->buffered(); }
  bool waits_for_client() const { return !out_.empty() || !in_.empty(); }

  std::unique_ptr<Stream> stream_;
  std::string address_;
  Rights rights_;
  SessionLimits limits_;
  std::string in_;
  std::string out_;
  size_t sent_ = 0;
  Pending pending_;
  bool last_reply_ = false;  ///< closes when it is sent
  bool over_ = false;
  Instant progress_;  ///< the client did something
};

}  // namespace matchrdma::service
