#include "proxy/ctl_client.h"

#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "controlplane/service/admin_version.h"
#include "controlplane/tls/file_descriptor.h"

namespace matchrdma {
namespace {

using Json = nlohmann::ordered_json;

std::string group_of(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return "";
  const group* g = ::getgrgid(s.st_gid);
  return g != nullptr ? g->gr_name : std::to_string(s.st_gid);
}

Error cannot_connect(const std::string& path, int error) {
  const std::string where = "cannot reach the daemon at " + path + ": ";
  switch (error) {
    case ENOENT:
      return Error{where +
                   "there is no such socket; is matchrdmad running, and is this its admin socket (--socket)?"};
    case ECONNREFUSED:
      return Error{where + "nobody listens; the daemon that made this socket is gone. Start matchrdmad"};
    case EACCES:
    case EPERM: {
      const std::string group = group_of(path);
      if (group.empty()) return Error{where + "permission denied; its folder is closed to this user"};
      return Error{where + "permission denied; join the group " + group + " (usermod -aG " + group +
                   " $USER, then log in anew), or be root"};
    }
    case EAGAIN:
      return Error{where + "it has too many clients waiting; try again"};
    default:
      return Error{where + std::strerror(error)};
  }
}

Result<FileDescriptor> connect_to(const std::string& path) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof a.sun_path)
    return Error{"--socket " + path + ": not a path of a socket"};
  std::memcpy(a.sun_path, path.c_str(), path.size() + 1);
  FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0)
    return cannot_connect(path, errno);
  return fd;
}

Result<std::string> read_line(const FileDescriptor& fd) {
  std::string line;
  std::array<char, 64 << 10> buffer;
  for (;;) {
    const ssize_t n = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      return Error{
          "the daemon closed the connection without an answer; it is stopping, or has too many clients"};
    line.append(buffer.data(), static_cast<size_t>(n));
    if (line.back() == '\n') return line;
  }
}

}  // namespace

Result<Json> ask_daemon(const std::string& socket, Json request) {
  const auto fd = connect_to(socket);
  if (!fd) return Error{fd.error()};
  request["v"] = service::kAdminVersion;
  const std::string line = request.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  for (size_t sent = 0; sent < line.size();) {
    const ssize_t n = ::send(fd->get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;  // what it had to say before it closed is read below
    sent += static_cast<size_t>(n);
  }
  const auto answer = read_line(*fd);
  if (!answer) return Error{answer.error()};
  const Json reply = Json::parse(*answer, nullptr, false);
  if (!reply.is_object() || !reply.contains("ok"))
    return Error{socket + ": what answers there is no matchrdma daemon"};
  if (!reply["ok"].is_boolean() || !reply["ok"].get<bool>())
    return Error{reply.value("error", "refused without a reason")};
  return reply.value("result", Json::object());
}

}  // namespace matchrdma
