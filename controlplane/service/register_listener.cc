#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "controlplane/service/listeners.h"
#include "controlplane/service/tls_psk.h"

namespace matchrdma::service {
namespace {

constexpr int kBacklog = 256;

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* generic() { return reinterpret_cast<sockaddr*>(&storage); }
};

Result<Address> address_of(const RegisterListenerOptions& o) {
  Address a;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&a.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&a.storage);
  if (::inet_pton(AF_INET, o.address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(o.port);
    a.size = sizeof *v4;
  } else if (::inet_pton(AF_INET6, o.address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(o.port);
    a.size = sizeof *v6;
  } else {
    return Error{"registration listener: \"" + o.address + "\" is not an IP address"};
  }
  return a;
}

}  // namespace

Result<std::unique_ptr<LineServer>> open_register_listener(const RegisterListenerOptions& o,
                                                           Commands& commands) {
  auto address = address_of(o);
  if (!address) return Error{address.error()};
  auto tls = TlsPskServer::load(o.psk_file);
  if (!tls) return Error{tls.error()};
  const auto failed = [&o](const char* what) {
    return Error{"registration listener " + o.address + " port " + std::to_string(o.port) + ": " + what + ": " +
                 std::strerror(errno)};
  };
  FileDescriptor fd(::socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), address->generic(), address->size) != 0) return failed("bind");
  if (::listen(fd.get(), kBacklog) != 0) return failed("listen");
  const auto shared = std::make_shared<TlsPskServer>(std::move(*tls));
  const auto make = [shared](FileDescriptor client) { return shared->stream(std::move(client)); };
  return std::make_unique<LineServer>(std::move(fd), make, Rights::kRegistration, o.limits, commands);
}

uint16_t port_of(const LineServer& server) {
  sockaddr_storage s{};
  socklen_t size = sizeof s;
  if (::getsockname(server.listener(), reinterpret_cast<sockaddr*>(&s), &size) != 0) return 0;
  // sin_port and sin6_port lie at the same place.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&s)->sin_port);
}

}  // namespace matchrdma::service
