#pragma once
// One request of the proxies' registration protocol (docs/admin.md) and its reply, as lines.
#include <string>

#include "dataplane/base/result.h"
#include "host/control/control_message.h"

namespace matchrdma::host {

/// Where a proxy's registration listener is expected unless its config says otherwise.
inline constexpr uint16_t kRegisterPort = 4790;

/// A pair of queue pairs. `local` stands on the LAN of the proxy that is asked. PSNs are the first that each
/// end sends; GIDs are IP addresses (RoCEv2).
struct ProxiedPair {
  FlowEnd local, remote;
  uint32_t path_mtu = 1024;  ///< bytes
  /// The same queue pairs, whatever their PSNs.
  bool names_same(const ProxiedPair& o) const {
    return local.gid == o.local.gid && local.qpn == o.local.qpn && remote.gid == o.remote.gid &&
           remote.qpn == o.remote.qpn;
  }
};

/// The proxy answers at once; whether both proxies have done it, it says when it is asked again.
std::string request_line(const ProxiedPair& pair, bool remove);

struct ProxyReply {
  bool done = false;  ///< by both proxies
  std::string text;   ///< how far it is
};
/// An error: the proxy's own sentence, or that this is no proxy.
Result<ProxyReply> read_reply(const std::string& line);

}  // namespace matchrdma::host
