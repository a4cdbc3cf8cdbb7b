#pragma once
// The two ways in: the Unix socket of the operator and the TCP listener of the orchestrator.
#include <memory>
#include <string>

#include "controlplane/service/admin_version.h"
#include "controlplane/service/line_server.h"
#include "dataplane/base/result.h"

namespace matchrdma::service {

struct AdminSocketOptions {
  std::string path = kAdminSocket;
  uint32_t mode = 0660;
  std::string group;  ///< who may connect, besides root; "": the daemon's own group
  LineServerLimits limits{.idle_gives_way = true};
};

/// Listens at `path`. A socket that a dead daemon left is replaced; one that a living daemon listens
/// on is not. The file stays when the server is destroyed; remove_admin_socket() takes it away.
Result<std::unique_ptr<LineServer>> open_admin_socket(const AdminSocketOptions& options, Commands& commands);
void remove_admin_socket(const std::string& path);

struct RegisterListenerOptions {
  std::string address = "127.0.0.1";  ///< IPv4 or IPv6
  uint16_t port = 4790;               ///< 0: any, see port_of()
  std::string psk_file;               ///< mode 0600; lines "IDENTITY HEXKEY"
  LineServerLimits limits{.max_clients = 64, .stranger_gives_way = true, .accepts_per_second = 200};
};

/// TLS 1.3 with an external PSK and no certificate; register and unregister alone.
Result<std::unique_ptr<LineServer>> open_register_listener(const RegisterListenerOptions& options,
                                                           Commands& commands);
uint16_t port_of(const LineServer& server);

}  // namespace matchrdma::service
