#include "proxy/daemon/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace matchrdma {
namespace {

std::string taken(const char* name) {
  const char* value = std::getenv(name);
  const std::string text = value == nullptr ? "" : value;
  ::unsetenv(name);
  return text;
}

std::optional<int64_t> number(const std::string& text) {
  int64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc{} || end != text.data() + text.size() || v <= 0) return {};
  return v;
}

/// A path, or a name of the abstract space behind an @ (sd_notify(3)).
std::optional<std::string> address_of(const std::string& name) {
  sockaddr_un a{};
  if (name.size() < 2 || (name[0] != '/' && name[0] != '@') || name.size() >= sizeof a.sun_path) return {};
  a.sun_family = AF_UNIX;
  std::memcpy(a.sun_path, name.data(), name.size());
  if (name[0] == '@') a.sun_path[0] = '\0';
  // The length of an abstract name counts; a path ends with its zero.
  const size_t size = offsetof(sockaddr_un, sun_path) + name.size() + (name[0] == '/' ? 1 : 0);
  std::string bytes(size, '\0');
  std::memcpy(bytes.data(), &a, size);
  return bytes;
}

/// A status is one line: a second one would be another assignment.
std::string assignment(const char* name, std::string value) {
  std::replace(value.begin(), value.end(), '\n', ' ');
  return std::string(name) + "=" + value + "\n";
}

}  // namespace

Result<Notify> Notify::from_environment() {
  const std::string name = taken("NOTIFY_SOCKET"), interval = taken("WATCHDOG_USEC"),
                    pid = taken("WATCHDOG_PID");
  Notify n;
  if (name.empty()) return n;
  const auto address = address_of(name);
  if (!address) return Error{"NOTIFY_SOCKET=" + name + ": neither a path nor @name of at most 107 characters"};
  n.address_ = *address;
  n.socket_ = FileDescriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!n.socket_.valid()) return Error{"NOTIFY_SOCKET=" + name + ": " + std::strerror(errno)};
  // Another process is to be watched, not this one (sd_watchdog_enabled(3)).
  if (interval.empty() || (!pid.empty() && number(pid) != ::getpid())) return n;
  const auto usec = number(interval);
  if (!usec || *usec > INT64_MAX / 1000)
    return Error{"WATCHDOG_USEC=" + interval + ": not a number of microseconds"};
  n.watchdog_ = Duration::micros(*usec) / 2;
  return n;
}

void Notify::ready(const std::string& status) { send_state("READY=1\n" + assignment("STATUS", status)); }

void Notify::reloading(Duration now) {
  send_state("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(now.ns / 1000) + "\n");
}

void Notify::stopping(const std::string& status) { send_state("STOPPING=1\n" + assignment("STATUS", status)); }

void Notify::watchdog() {
  if (send(owed_ + "WATCHDOG=1\n")) owed_.clear();
}

void Notify::status(const std::string& text) {
  if (send(owed_ + assignment("STATUS", text))) owed_.clear();
}

void Notify::send_state(const std::string& message) { owed_ = send(message) ? "" : message; }

bool Notify::send(const std::string& message) {
  if (!connected()) return true;
  sockaddr_un a{};
  std::memcpy(&a, address_.data(), address_.size());
  ssize_t sent;
  do
    sent = ::sendto(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL,
                    reinterpret_cast<const sockaddr*>(&a), static_cast<socklen_t>(address_.size()));
  while (sent < 0 && errno == EINTR);
  return sent >= 0 || (errno != EAGAIN && errno != ENOBUFS);
}

}  // namespace matchrdma
