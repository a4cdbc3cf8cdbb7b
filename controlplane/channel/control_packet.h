#pragma once
// A datagram of the subchannel as an Ethernet frame of the WAN port, and how to know one (PROTOCOL 6).
#include "dataplane/base/packet.h"
#include "dataplane/wire/frame_builder.h"

namespace matchrdma {

inline constexpr uint16_t kControlUdpPort = 4793;

/// Where the peer's control address is, as seen from here: `net.src` is our own address.
struct ControlPath {
  L2L3 net;  ///< VLAN ids count; priority, DSCP, UDP checksum are set by the builder
  uint16_t port = kControlUdpPort;
};

/// Bytes of the frame around a UDP payload (no FCS).
uint32_t control_packet_size(const ControlPath& path, size_t payload);
/// `out.size()` must be control_packet_size(). DSCP CS6, PCP 7 in every tag, both checksums right, DF set.
void build_control_packet(const ControlPath& path, Bytes payload, MutableBytes out);
/// The same into a packet of the pool; empty when the pool is exhausted.
PacketRef build_control_packet(const ControlPath& path, Bytes payload, PacketPool& pool);

/// What a frame from the WAN is to the subchannel.
struct ControlVerdict {
  enum class Kind : uint8_t {
    kForeign,  ///< not to our address and port: not ours to judge
    kBroken,   ///< to us, but cut, of wrong lengths, or not from the peer: drop it, nothing of it leaks to the
               ///< LAN
    kOurs,     ///< `payload` lies inside the frame
  };
  Kind kind = Kind::kForeign;
  Bytes payload{};
};
/// Never reads outside `frame`. Checksums are not looked at: the seal is the stronger proof.
ControlVerdict recognise_control(const ControlPath& path, Bytes frame);

}  // namespace matchrdma
