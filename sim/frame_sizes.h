#pragma once
// What frames weigh (SIMULATOR 1).
#include <cstdint>

namespace matchrdma::sim {

/// Bytes of headers and of control frames as buffers hold them; `gap` more occupy the line.
struct FrameSizes {
  uint32_t data_overhead;     ///< of every data packet
  uint32_t message_overhead;  ///< more on the first packet of a message
  uint32_t payload_multiple;  ///< payload is padded to it
  uint32_t ack;               ///< ACK and NACK
  uint32_t cnp;
  uint32_t pfc;
  uint32_t gap;  ///< preamble, start of frame and least gap between frames

  constexpr uint32_t data(uint32_t payload, bool first) const {
    const uint32_t padded = (payload + payload_multiple - 1) / payload_multiple * payload_multiple;
    return padded + data_overhead + (first ? message_overhead : 0);
  }
};

/// The public simulators: 14 L2, 20 IP, 8 UDP, 4 sequence, 2 class. No FCS, preamble or gap. The page gives no
/// size of CNP and PFC; they are IP packets without payload there, as an ACK is.
inline constexpr FrameSizes kHpccFrames{.data_overhead = 48,
                                        .message_overhead = 0,
                                        .payload_multiple = 1,
                                        .ack = 60,
                                        .cnp = 60,
                                        .pfc = 60,
                                        .gap = 0};

/// RoCEv2 over IPv4: Ethernet 14, IP 20, UDP 8, BTH 12, RETH 16, AETH 4, ICRC 4, FCS 4; a CNP has 16 reserved
/// bytes (IBA annex 17.9.3), a PFC frame is the least Ethernet frame (802.1Q 36.2).
inline constexpr FrameSizes kRoceFrames{.data_overhead = 14 + 20 + 8 + 12 + 4 + 4,
                                        .message_overhead = 16,
                                        .payload_multiple = 4,
                                        .ack = 14 + 20 + 8 + 12 + 4 + 4 + 4,
                                        .cnp = 14 + 20 + 8 + 12 + 16 + 4 + 4,
                                        .pfc = 64,
                                        .gap = 20};

}  // namespace matchrdma::sim
