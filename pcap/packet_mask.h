#pragma once
// What must stay the same when a packet crosses both proxies.
#include <cstdint>

#include "dataplane/wire/frame.h"

namespace matchrdma {

/// Fingerprint of a RoCE frame without ECN, AckReq, TTL (or hop limit), IPv4 header checksum and ICRC.
uint64_t masked_fingerprint(const Frame& f);

}  // namespace matchrdma
