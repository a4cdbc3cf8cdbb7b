#pragma once
#include <cstdint>

namespace matchrdma::host {

/// On the wire beside the payload of a WRITE with immediate: Ethernet, IPv4, UDP, BTH, RETH, immediate, ICRC.
inline constexpr uint32_t kHeaderBytes = 82;

}  // namespace matchrdma::host
