#pragma once
// A ControlSession over TLS and TCP, for the caller's poll() loop. No thread, no clock; no call waits.
#include <memory>
#include <string>

#include "controlplane/tls/socket_address.h"
#include "controlplane/tls/tls_psk.h"
#include "host/control/control_session.h"

namespace matchrdma::host {

struct LinkOptions {
  ControlHello hello;
  SessionTimes times{};
  Duration open = Duration::seconds(5);  ///< TCP and TLS have to be done
};

/// Duty: moves the bytes of one session and says why a connection did not come about. Poll fd() for events()
/// until next_wakeup(), then call run(), whatever poll() said. Does not reconnect.
class ControlLink {
 public:
  /// Begins to connect. An error is one of this end: no IP address, no socket.
  static Result<std::unique_ptr<ControlLink>> connect(const std::string& ip, uint16_t port,
                                                      std::shared_ptr<const TlsPskClient> key,
                                                      const LinkOptions& options, Instant now);
  ~ControlLink();

  int fd() const;  ///< -1 when it is over
  short events() const;
  Instant next_wakeup() const;
  void run(Instant now);

  /// The peer has shown the key and said HELLO.
  bool open() const { return session_ && session_->state() == ControlSession::State::kOpen; }
  bool over() const { return step_ == Step::kOver; }
  /// A sentence that names the other end; empty before the end.
  const std::string& reason() const { return reason_; }
  bool orderly() const { return session_ && session_->orderly(); }
  /// nullptr before the key was shown. What is queued here leaves with the next run().
  ControlSession* session() { return session_ ? &*session_ : nullptr; }
  const ControlSession* session() const { return session_ ? &*session_ : nullptr; }

 private:
  friend class ControlListener;
  enum class Step : uint8_t { kConnecting, kHandshake, kTalking, kOver };

  ControlLink(std::string who, const LinkOptions& options, Instant now);
  void connected();
  void read_some(Instant now);
  void write_some();
  void closed();
  void finish(const std::string& why);

  const std::string who_;
  const LinkOptions options_;
  const Instant open_ends_;
  Step step_ = Step::kConnecting;
  std::shared_ptr<const TlsPskClient> client_;
  std::shared_ptr<const TlsPskServer> server_;
  FileDescriptor connecting_;  ///< until there is a stream
  std::unique_ptr<Stream> stream_;
  std::optional<ControlSession> session_;
  std::string reason_;
};

/// Duty: takes connections, one ControlLink each. How many of them may wait for their key is the caller's
/// affair.
class ControlListener {
 public:
  /// `port` 0: one that is free.
  static Result<ControlListener> open(const std::string& ip, uint16_t port,
                                      std::shared_ptr<const TlsPskServer> keys, const LinkOptions& options);
  int fd() const { return fd_.get(); }
  uint16_t port() const { return port_of_socket(fd_.get()); }
  /// The next connection that waits; nullptr where there is none now.
  std::unique_ptr<ControlLink> accept(Instant now);

 private:
  ControlListener(FileDescriptor fd, std::shared_ptr<const TlsPskServer> keys, const LinkOptions& options)
      : fd_(std::move(fd)), keys_(std::move(keys)), options_(options) {}
  FileDescriptor fd_;
  std::shared_ptr<const TlsPskServer> keys_;
  LinkOptions options_;
};

}  // namespace matchrdma::host
