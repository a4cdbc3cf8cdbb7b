#pragma once
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

#include "controlplane/tls/file_descriptor.h"
#include "dataplane/base/result.h"

namespace matchrdma {

/// An IP address and a TCP port, as the kernel takes them.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* generic() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

/// Of an IPv4 or IPv6 address as text; names are not looked up.
std::optional<SocketAddress> socket_address(const std::string& ip, uint16_t port);

/// A listening TCP socket that does not block. The error says which call failed and why, without the address.
Result<FileDescriptor> listen_at(SocketAddress address, int backlog);

/// The port that a socket is bound to; 0 where it is none of TCP.
uint16_t port_of_socket(int fd);

}  // namespace matchrdma
