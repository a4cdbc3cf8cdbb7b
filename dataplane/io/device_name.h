#pragma once
// What people write for a port: "0000:3b:00.0", or a vdev like "net_af_packet0,iface=eth1". No DPDK.
#include <cstdint>
#include <optional>
#include <string>

#include "dataplane/base/result.h"

namespace matchrdma::io {

/// Duty: the parts of a device string. Does not know whether the device exists.
struct DeviceName {
  enum class Kind : uint8_t { kPci, kAfPacket, kAfXdp, kTap, kOtherVdev };
  Kind kind = Kind::kOtherVdev;
  std::string name;       ///< what DPDK calls the device: the part before the first comma
  std::string arguments;  ///< behind it
  /// The interface of the kernel that carries the port; empty: none.
  std::string interface;

  bool kernel_backed() const { return !interface.empty(); }
  std::optional<std::string> argument(const std::string& key) const;
  /// Adds key=value unless the key stands there.
  void add_default(const std::string& key, const std::string& value);
};

Result<DeviceName> parse_device(const std::string& text);

/// Frame and block size of the rings of net_af_packet for frames of this many bytes, as its vdev arguments want
/// them. A frame carries 66 bytes of headers of the kernel; longer packets would be cut off without a word.
struct AfPacketRing {
  uint32_t frame_bytes = 0, block_bytes = 0, frames = 0;
};
AfPacketRing af_packet_ring(uint32_t packet_bytes);

}  // namespace matchrdma::io
