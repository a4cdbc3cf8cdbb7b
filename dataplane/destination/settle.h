#pragma once
// The receiver's ACKs, NAKs and responses: what they settle (H7), what they ask for, and whether they pass.
#include "dataplane/destination/egress.h"

namespace matchrdma {

enum class Answer : uint8_t { kPass, kAbsorb };

/// An ACK, NAK, RNR NAK, READ response or atomic ACK with right ICRC from the receiver of `f`.
Answer on_receiver_answer(DestinationFlow& f, const Frame& answer, Egress& egress, const RoleCtx& ctx);
/// A CNP from the receiver: consumed only if it can be about this flow's requests (H10).
Answer on_receiver_cnp(DestinationFlow& f, const RoleCtx& ctx);
/// Everything below `end` is at the receiver. Returns when the newest of it was delivered that asked for an
/// ACK, and was delivered once; never if there is none.
Instant settle(DestinationFlow& f, Seq end, const RoleCtx& ctx);
/// Forgets what is held (poisoning, the end of a generation).
void discard_held(DestinationFlow& f, Egress& egress, const RoleCtx& ctx);

}  // namespace matchrdma
