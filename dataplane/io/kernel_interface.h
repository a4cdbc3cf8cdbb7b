#pragma once
// Network interfaces of the kernel, by name. No DPDK.
#include <cstdint>
#include <string>

#include "dataplane/base/result.h"

namespace matchrdma::io {

struct InterfaceFlags {
  bool up = false;       ///< switched on
  bool running = false;  ///< has a carrier
};

Result<InterfaceFlags> interface_flags(const std::string& name);
/// Switches the interface on or off: its neighbour sees the carrier come or go. Needs CAP_NET_ADMIN.
Result<void> switch_interface(const std::string& name, bool up);
Result<uint32_t> interface_mtu(const std::string& name);
Result<void> set_interface_mtu(const std::string& name, uint32_t mtu);
/// Switches off that the kernel or the NIC merges received frames (GRO, LRO). Needs CAP_NET_ADMIN where one of
/// them is on. An interface without such features has nothing to switch off.
Result<void> stop_receive_merging(const std::string& name);

}  // namespace matchrdma::io
