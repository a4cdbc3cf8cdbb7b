#pragma once
// The connection to a proxy's registration listener: TLS 1.3 with a pre-shared key, a line out, a line in.
#include <memory>
#include <optional>
#include <string>

#include "controlplane/tls/tcp_connect.h"
#include "dataplane/base/time.h"

namespace matchrdma::host {

/// Duty: one connection, one request under way. Poll fd() for events(), then call run(). Does not reconnect,
/// and does not know what lines mean.
class ProxyLine {
 public:
  ProxyLine(SocketAddress address, std::shared_ptr<const TlsPskClient> key, Instant gives_up);

  int fd() const { return stream_ ? stream_->fd() : connecting_.get(); }
  short events() const;
  void run(Instant now);
  /// Both sides have shown the key, and nothing is under way.
  bool ready() const { return stream_ && trusted_ && out_.empty() && !waits_; }
  bool waits() const { return waits_; }
  /// It was ready, and is or was closed since with nothing under way.
  bool rests() const { return trusted_ && !waits_; }
  /// `line` ends with a newline. Its answer has to be there by `deadline`. Only when ready().
  void ask(std::string line, Instant deadline);
  std::optional<std::string> take_answer();
  /// Why there is no going on; empty before.
  const std::string& broken() const { return broken_; }
  /// When run() is due without an event.
  Instant deadline() const { return rests() ? Instant::never() : deadline_; }

 private:
  void connected();
  void read_some();
  void write_some();
  void closed();
  void finish(const std::string& why);

  std::shared_ptr<const TlsPskClient> key_;
  FileDescriptor connecting_;
  std::unique_ptr<Stream> stream_;
  bool trusted_ = false, waits_ = false;
  std::string out_, in_, broken_;
  Instant deadline_;
};

}  // namespace matchrdma::host
