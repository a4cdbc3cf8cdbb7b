#include <utility>

#include "controlplane/service/listeners.h"
#include "controlplane/tls/socket_address.h"
#include "controlplane/tls/tls_psk.h"

namespace matchrdma::service {
namespace {

constexpr int kBacklog = 256;

}  // namespace

Result<std::unique_ptr<LineServer>> open_register_listener(const RegisterListenerOptions& o,
                                                           Commands& commands) {
  const auto address = socket_address(o.address, o.port);
  if (!address) return Error{"registration listener: \"" + o.address + "\" is not an IP address"};
  auto tls = TlsPskServer::load(o.psk_file);
  if (!tls) return Error{tls.error()};
  auto fd = listen_at(*address, kBacklog);
  if (!fd)
    return Error{"registration listener " + o.address + " port " + std::to_string(o.port) + ": " + fd.error()};
  const auto shared = std::make_shared<TlsPskServer>(std::move(*tls));
  const auto make = [shared](FileDescriptor client) { return shared->stream(std::move(client)); };
  return std::make_unique<LineServer>(std::move(*fd), make, Rights::kRegistration, o.limits, commands);
}

uint16_t port_of(const LineServer& server) { return port_of_socket(server.listener()); }

}  // namespace matchrdma::service
