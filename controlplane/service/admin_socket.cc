#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "controlplane/service/listeners.h"

namespace matchrdma::service {
namespace {

constexpr int kBacklog = 16;

std::string why() { return std::strerror(errno); }  // NOLINT: control thread alone

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof a.sun_path) {
    return Error{"admin socket \"" + path + "\": choose a path of 1 to " +
                 std::to_string(sizeof a.sun_path - 1) + " bytes"};
  }
  std::memcpy(a.sun_path, path.c_str(), path.size() + 1);
  return a;
}

const sockaddr* generic(const sockaddr_un& a) { return reinterpret_cast<const sockaddr*>(&a); }

FileDescriptor unix_socket() {
  return FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

// Takes away what a daemon left that is gone. Only sockets, and only those that nobody answers on.
Result<void> clear_away(const std::string& path, const sockaddr_un& address) {
  struct stat s {};
  if (::lstat(path.c_str(), &s) != 0) {
    if (errno == ENOENT) return {};
    return Error{"admin socket " + path + ": " + why()};
  }
  if (!S_ISSOCK(s.st_mode))
    return Error{"admin socket " + path + ": something else stands there; remove it or choose another path"};
  const FileDescriptor probe = unix_socket();
  // EAGAIN: somebody listens and is busy.
  if (::connect(probe.get(), generic(address), sizeof address) == 0 || errno == EAGAIN) {
    return Error{"admin socket " + path +
                 ": another daemon listens on it; stop it or give this one another path"};
  }
  if (::unlink(path.c_str()) != 0) return Error{"admin socket " + path + " of a daemon that is gone: " + why()};
  return {};
}

Result<std::optional<gid_t>> group_id(const std::string& name) {
  if (name.empty()) return std::optional<gid_t>();
  if (const group* g = ::getgrnam(name.c_str()); g != nullptr) return std::optional<gid_t>(g->gr_gid);
  return Error{"admin socket: there is no group \"" + name + "\"; add it with groupadd --system " + name};
}

}  // namespace

Result<std::unique_ptr<LineServer>> open_admin_socket(const AdminSocketOptions& o, Commands& commands) {
  const auto address = address_of(o.path);
  if (!address) return Error{address.error()};
  const auto gid = group_id(o.group);
  if (!gid) return Error{gid.error()};
  if (auto cleared = clear_away(o.path, *address); !cleared) return Error{cleared.error()};
  FileDescriptor fd = unix_socket();
  // Nobody may connect before group and mode are right.
  const mode_t before = ::umask(0777);
  const int bound = ::bind(fd.get(), generic(*address), sizeof *address);
  const int bind_error = errno;
  ::umask(before);
  if (bound != 0) {
    errno = bind_error;
    return Error{"admin socket " + o.path + ": " + why() +
                 "; does its folder exist, and may this user write there?"};
  }
  if (*gid && ::chown(o.path.c_str(), static_cast<uid_t>(-1), **gid) != 0) {
    return Error{"admin socket " + o.path + ": cannot give it to group " + o.group + ": " + why()};
  }
  if (::chmod(o.path.c_str(), o.mode) != 0) return Error{"admin socket " + o.path + ": " + why()};
  if (::listen(fd.get(), kBacklog) != 0) return Error{"admin socket " + o.path + ": " + why()};
  return std::make_unique<LineServer>(std::move(fd), plain_stream, Rights::kAll, o.limits, commands);
}

void remove_admin_socket(const std::string& path) { ::unlink(path.c_str()); }

}  // namespace matchrdma::service
