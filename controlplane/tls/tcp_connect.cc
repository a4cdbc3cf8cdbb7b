#include "controlplane/tls/tcp_connect.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace matchrdma {
namespace {

std::string with_remedy(int error) {
  const std::string what = std::strerror(error);
  switch (error) {
    case ECONNREFUSED:
      return what + "; is the other end running, and is this its port?";
    case ENETUNREACH:
    case EHOSTUNREACH:
      return what + "; look at the address and the routes";
    case ETIMEDOUT:
      return what + "; look at the address, the port and the firewalls between";
    default:
      return what;
  }
}

}  // namespace

std::string named_address(const std::string& ip, uint16_t port) { return ip + " port " + std::to_string(port); }

void send_at_once(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Result<FileDescriptor> begin_connect(SocketAddress address) {
  FileDescriptor fd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return Error{std::string("socket: ") + std::strerror(errno)};
  send_at_once(fd.get());
  if (::connect(fd.get(), address.generic(), address.size) != 0 && errno != EINPROGRESS)
    return Error{with_remedy(errno)};
  return fd;
}

std::optional<Result<void>> connect_result(int fd) {
  pollfd p{fd, POLLOUT, 0};
  if (::poll(&p, 1, 0) <= 0) return {};
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return Result<void>(Error{with_remedy(error)});
  return Result<void>{};
}

std::string no_answer_in_time() {
  return "no answer in time; look at the address, the port and the firewalls between";
}

std::string closed_untrusted(const Stream& stream, const TlsPskClient* key) {
  return "the other end " + std::string(stream.why()) +
         "; the same line IDENTITY HEXKEY has to stand in the key files of both ends" +
         (key != nullptr ? " (this end uses \"" + key->identity() + "\")" : "");
}

}  // namespace matchrdma
