#pragma once
// Names of ports as DPDK takes them.
#include <string>

#include "dataplane/base/result.h"

namespace matchrdma {

/// "3b:00.0" (the domain is added: "0000:3b:00.0") or "net_af_packet0,iface=eth1"; device arguments stay.
Result<std::string> parse_port(const std::string& text);
/// The device itself, without arguments: two ports that have it in common are one.
std::string port_device(const std::string& port);
/// The kernel interface behind a vdev (its argument iface=), empty if there is none.
std::string port_interface(const std::string& port);

}  // namespace matchrdma
