#pragma once
// What a service manager wants to hear: the sd_notify protocol of systemd, without its library.
#include <cstdint>
#include <optional>
#include <string>

#include "controlplane/tls/file_descriptor.h"
#include "dataplane/base/result.h"
#include "dataplane/base/time.h"

namespace matchrdma {

/// Duty: tells the manager that started us how we are. Without one every call does nothing. Never blocks: what
/// a manager with a full queue cannot take goes with the next message, but for watchdog() and status(), which
/// that one replaces.
class Notify {
 public:
  /// Nobody is told anything.
  Notify() = default;
  /// From NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID; takes them out of the environment, so that no child
  /// speaks for us. Fails where they are set to what cannot be meant. Before any thread starts.
  static Result<Notify> from_environment();

  bool connected() const { return socket_.valid(); }
  /// How often watchdog() must be called: half of what the manager allows. Empty: it does not watch.
  std::optional<Duration> watchdog_interval() const { return watchdog_; }

  void ready(const std::string& status);
  /// SIGHUP was taken; `now` is CLOCK_MONOTONIC as the manager reads it. ready() ends it, also after a refusal.
  void reloading(Duration now);
  void stopping(const std::string& status);
  void watchdog();
  /// One line for `systemctl status`.
  void status(const std::string& text);

 private:
  /// False: the manager's queue is full.
  bool send(const std::string& message);
  void send_state(const std::string& message);

  FileDescriptor socket_;
  std::string address_;  ///< sockaddr_un as bytes: an abstract name may hold any
  std::string owed_;     ///< newest state that could not be told
  std::optional<Duration> watchdog_;
};

}  // namespace matchrdma
