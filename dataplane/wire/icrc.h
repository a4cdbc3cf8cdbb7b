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
/// The same, and `f` remembers the CRC before its payload: payload_print() costs nothing then.
bool check_icrc(Frame& f);
/// CRC of the masked headers up to the offset `end`, from which crc32() goes on to the ICRC: behind the BTH's
/// FECN, before the payload.
uint32_t crc_of_headers(const Frame& f, uint32_t end);
/// Writes the right ICRC into `bytes`: those that `f` views, or a copy of them with other field values.
void write_icrc(const Frame& f, MutableBytes bytes);
/// CRC-32 (zlib) of arbitrary bytes, running value `seed` (0 to start): fingerprints.
uint32_t crc32(uint32_t seed, Bytes b);

/// Fingerprint of a payload with its pad bytes: its CRC-32, or, taken from an ICRC that was checked, a CRC over
/// the payload and what comes before it (`whole`) beside one over what comes before it alone (`head`).
struct PayloadPrint {
  uint32_t whole = 0, head = 0;
};
PayloadPrint payload_print(const Frame& f);
/// Two payloads of `bytes` with these prints have the same CRC-32.
bool same_payload(PayloadPrint a, PayloadPrint b, size_t bytes);

}  // namespace matchrdma
