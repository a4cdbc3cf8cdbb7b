#pragma once
// What must stay the same when a packet crosses both proxies.
#include <cstdint>

#include "dataplane/wire/frame.h"

namespace matchrdma {

/// Fingerprint of a RoCE frame with a right ICRC, without ECN, AckReq, TTL (or hop limit) and IPv4 header
/// checksum. The ICRC that the frame would carry with AckReq cleared stands for the payload, so that it is not
/// read again.
uint64_t masked_fingerprint(const Frame& f);

}  // namespace matchrdma
