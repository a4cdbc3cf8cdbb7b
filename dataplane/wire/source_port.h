#pragma once
// UDP source port of RoCEv2: entropy for ECMP, derived from the flow label (IBA annex A17.9.2).
#include <cstdint>

#include "dataplane/base/types.h"

namespace matchrdma {

/// The port that kernels choose for a QP whose flow label is 0: from both QPNs, the same in both directions.
/// One port in 16384 fits by chance.
constexpr uint16_t hashed_source_port(Qpn local, Qpn remote) {
  uint64_t v = uint64_t{local.v} * remote.v;
  v ^= v >> 20;
  v ^= v >> 40;
  const auto label = static_cast<uint32_t>(v & 0xfffff);
  return static_cast<uint16_t>(((label & 0x3fff) ^ ((label & 0xfc000) >> 14)) | 0xc000);
}

}  // namespace matchrdma
