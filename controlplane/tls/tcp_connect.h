#pragma once
// The connecting side of TCP and TLS: begun, looked at by a poll() loop, and told why it came to nothing.
#include <optional>
#include <string>

#include "controlplane/tls/socket_address.h"
#include "controlplane/tls/tls_psk.h"

namespace matchrdma {

/// "192.0.2.1 port 4790"
std::string named_address(const std::string& ip, uint16_t port);
/// Whatever it sends leaves at once.
void send_at_once(int fd);

/// A TCP socket that does not block and is being connected; poll() it for POLLOUT. The error says why there is
/// none, and what to look at.
Result<FileDescriptor> begin_connect(SocketAddress address);
/// Nothing: not yet. The error says why it never will be, and what to look at.
std::optional<Result<void>> connect_result(int fd);
/// Of a connection that has not come about in time.
std::string no_answer_in_time();
/// Of a stream that closed before it was trusted. `key`: of the connecting side; nullptr at the other.
std::string closed_untrusted(const Stream& stream, const TlsPskClient* key);

}  // namespace matchrdma
