#pragma once
// Invariant CRC of RoCEv2 (IBA annex A17.3.3; facts: CRC-32 reflected over masked headers, little endian on the
// wire).
#include <cstdint>

#include "dataplane/wire/frame.h"

namespace matchrdma {

/// ICRC the frame should carry.
uint32_t compute_icrc(const Frame& f);
/// True when the frame carries the right ICRC.
bool icrc_ok(const Frame& f);
/// Writes the right ICRC into `bytes`: those that `f` views, or a copy of them with other field values.
void write_icrc(const Frame& f, MutableBytes bytes);
/// CRC-32 (zlib) of arbitrary bytes, running value `seed` (0 to start): fingerprints.
uint32_t crc32(uint32_t seed, Bytes b);

}  // namespace matchrdma
