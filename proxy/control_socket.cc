#include "proxy/control_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace matchrdma {
namespace {

constexpr size_t kLongestLine = 4096;
constexpr size_t kMostClients = 16;

Error failed(const std::string& path, const std::string& what) { return Error{"socket " + path + ": " + what}; }

const sockaddr* generic(const sockaddr_un& address) {
  return static_cast<const sockaddr*>(static_cast<const void*>(&address));
}

/// Somebody answers there.
bool alive(const sockaddr_un& address) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool answered = fd >= 0 && connect(fd, generic(address), sizeof address) == 0;
  if (fd >= 0) close(fd);
  return answered;
}

}  // namespace

Result<std::unique_ptr<ControlSocket>> ControlSocket::open(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return failed(
        path, "a path has 1 to " + std::to_string(sizeof address.sun_path - 1) + " bytes; choose a shorter");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size());
  struct stat s {};
  if (stat(path.c_str(), &s) == 0) {
    if (!S_ISSOCK(s.st_mode)) return failed(path, "there is a file of that name; choose another");
    if (alive(address)) return failed(path, "another process listens there; choose another or end it");
    unlink(path.c_str());
  }
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, generic(address), sizeof address) != 0 || chmod(path.c_str(), 0660) != 0 ||
      listen(fd, static_cast<int>(kMostClients)) != 0) {
    const std::string why = std::strerror(errno);
    if (fd >= 0) close(fd);
    return failed(path, "cannot be made: " + why + "; check that its folder exists and may be written");
  }
  return std::unique_ptr<ControlSocket>(new ControlSocket(path, fd));
}

ControlSocket::~ControlSocket() {
  for (const Client& c : clients_) close(c.fd);
  close(fd_);
  unlink(path_.c_str());
}

void ControlSocket::serve(const Answer& answer) {
  while (clients_.size() < kMostClients) {
    const int client = accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0) break;
    clients_.push_back({client, {}});
  }
  std::erase_if(clients_, [&answer](Client& c) {
    if (serve_client(c, answer)) return false;
    close(c.fd);
    return true;
  });
}

bool ControlSocket::serve_client(Client& client, const Answer& answer) {
  std::array<char, 1024> buffer;
  for (;;) {
    const ssize_t n = recv(client.fd, buffer.data(), buffer.size(), 0);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) return false;
    client.line.append(buffer.data(), static_cast<size_t>(n));
    for (size_t end = client.line.find('\n'); end != std::string::npos; end = client.line.find('\n')) {
      const std::string text = answer(client.line.substr(0, end)) + "\n";
      client.line.erase(0, end + 1);
      // An answer fits into the buffer of a socket; a client that does not read its answers is let go.
      if (send(client.fd, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size()))
        return false;
    }
    if (client.line.size() > kLongestLine) return false;
  }
}

}  // namespace matchrdma
