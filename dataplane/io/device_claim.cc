#include "dataplane/io/device_claim.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace matchrdma::io {
namespace {

/// Who was refused knocks here, and is not let in: some may wait.
constexpr int kBacklog = 8;

int unix_socket() { return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

/// " (process 123)", or nothing where the holder does not tell.
std::string holder(const sockaddr* address, socklen_t size) {
  const int fd = unix_socket();
  if (fd < 0) return "";
  ucred who{};
  socklen_t length = sizeof who;
  const bool known =
      connect(fd, address, size) == 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0;
  close(fd);
  return known ? " (process " + std::to_string(who.pid) + ")" : "";
}

}  // namespace

Result<DeviceClaim> DeviceClaim::take(const std::string& device) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "matchrdma/device/" + device;  // behind the zero byte of an abstract name
  if (name.size() + 1 > sizeof address.sun_path)
    return Error{device + ": the name of a device is not that long"};
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  const int fd = unix_socket();
  if (fd >= 0 && bind(fd, generic, size) == 0 && listen(fd, kBacklog) == 0) return DeviceClaim(fd);
  const int error = errno;
  if (fd >= 0) close(fd);
  if (error == EADDRINUSE)
    return Error{device + " is used already" + holder(generic, size) +
                 ": two that forward on it would double every packet; stop that one, or name another device"};
  return Error{device + " cannot be claimed: " + std::strerror(error)};
}

DeviceClaim::~DeviceClaim() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace matchrdma::io
