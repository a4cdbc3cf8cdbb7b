#pragma once
// The descriptors that a driver has opened behind our back. No DPDK.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace matchrdma::io {

/// Descriptors of this process that become readable when a kernel-backed driver has received something: packet
/// and XDP sockets, and queues of tap devices.
std::set<int> traffic_descriptors();
/// Those of `now` that `before` does not have, ascending: what a driver has opened in between.
std::vector<int> opened_since(const std::set<int>& before);
/// A packet socket stops receiving what this host itself sends out of the interface.
void ignore_own_host(int packet_socket);
/// Takes a pending error off a socket, or it would stay ready for ever.
void clear_socket_error(int fd);

}  // namespace matchrdma::io
