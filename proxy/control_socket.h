#pragma once
// A Unix stream socket for commands: one line in, one answer out.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dataplane/base/result.h"

namespace matchrdma {

/// Duty: accepts connections and answers their lines, without ever waiting. Does not know the commands.
class ControlSocket {
 public:
  using Answer = std::function<std::string(const std::string& line)>;

  /// Makes the socket (mode 0660); one that a dead process has left is replaced.
  static Result<std::unique_ptr<ControlSocket>> open(const std::string& path);
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  /// Serves what has come in; every answer is followed by a newline.
  void serve(const Answer& answer);
  /// Readable when a client wants in.
  int fd() const { return fd_; }
  /// Clients are connected: what they write is not seen at fd().
  bool has_clients() const { return !clients_.empty(); }

 private:
  ControlSocket(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  struct Client {
    int fd;
    std::string line;
  };
  /// False when the client has gone.
  static bool serve_client(Client& client, const Answer& answer);

  std::string path_;
  int fd_;
  std::vector<Client> clients_;
};

}  // namespace matchrdma
