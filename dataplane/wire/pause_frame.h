#pragma once
// PFC as IEEE 802.1Q clause 36 and IEEE 802.3 annex 31D write it.
#include <array>
#include <cstdint>

#include "dataplane/base/packet.h"

namespace matchrdma {

inline constexpr uint16_t kEtherTypePause = 0x8808;  ///< MAC control

/// 60 bytes (the FCS is the port's): every priority whose bit is set pauses for `quanta` of 512 bit times.
/// Empty when the pool is.
PacketRef build_pause_frame(const std::array<uint8_t, 6>& source, uint8_t priorities, uint16_t quanta,
                            PacketPool& pool);

}  // namespace matchrdma
