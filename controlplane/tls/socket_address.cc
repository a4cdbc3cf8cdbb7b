#include "controlplane/tls/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstring>

namespace matchrdma {

std::optional<SocketAddress> socket_address(const std::string& ip, uint16_t port) {
  SocketAddress a;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&a.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&a.storage);
  if (::inet_pton(AF_INET, ip.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    a.size = sizeof *v4;
  } else if (::inet_pton(AF_INET6, ip.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    a.size = sizeof *v6;
  } else {
    return std::nullopt;
  }
  return a;
}

Result<FileDescriptor> listen_at(SocketAddress address, int backlog) {
  const auto failed = [](const char* what) { return Error{std::string(what) + ": " + std::strerror(errno)}; };
  FileDescriptor fd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return failed("socket");
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), address.generic(), address.size) != 0) return failed("bind");
  if (::listen(fd.get(), backlog) != 0) return failed("listen");
  return fd;
}

uint16_t port_of_socket(int fd) {
  sockaddr_storage s{};
  socklen_t size = sizeof s;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&s), &size) != 0) return 0;
  if (s.ss_family != AF_INET && s.ss_family != AF_INET6) return 0;
  // sin_port and sin6_port lie at the same place.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&s)->sin_port);
}

}  // namespace matchrdma
