#pragma once
// End-to-end flow control credits of the AETH (H20; IBA 9.7.7.2, table 43): a 5-bit code, not a count.
#include <cstdint>

#include "dataplane/source/source_flow.h"

namespace matchrdma {

/// Credits behind a code 0..30; -1 for 31 (no limit).
int32_t credits_of(uint8_t code);
/// Largest code whose credits do not exceed `count` (0 for negative counts).
uint8_t code_of(int64_t count);
/// Credit code for an ACK that carries `msn` messages.
uint8_t ack_credits(const SourceFlow& f, int64_t msn);

}  // namespace matchrdma
