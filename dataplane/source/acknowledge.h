#pragma once
// The only place that builds an AETH (C1, C2, C3, C5): every ACK and NAK to the sender is bounded by one
// ceiling.
#include "dataplane/flow/role_ctx.h"
#include "dataplane/source/source_flow.h"

namespace matchrdma {

inline constexpr Seq kNoCeiling = INT64_MIN;

/// Exclusive end of what may be acknowledged to the sender (the ceiling of PROTOCOL 4, plus one); kNoCeiling
/// while the flow is not active. An ACK has PSN < ceiling_end, a NAK PSN <= ceiling_end.
Seq ceiling_end(SourceFlow& f);

/// First PSN of the oldest READ-class request without its complete response; INT64_MAX if none.
Seq read_fence(SourceFlow& f);

/// Messages complete below `end`, as the real receiver counts them (IBA 9.7.7.1).
int64_t messages_below(SourceFlow& f, Seq end);
/// An ACK for everything below `end` is due; given now or as soon as the ceiling allows. `accepted`: when the
/// request came that it is due for.
void want_ack(SourceFlow& f, Seq end, Instant accepted);

/// `o` was put on the span for the first time: true when an ACK for it is due now, which is noted.
[[nodiscard]] bool ask_if_due(SourceFlow& f, const Owned& o, const RoleCtx& ctx);

/// The sender knows that everything below `end` has come.
void note_told(SourceFlow& f, Seq end);

/// Gives what is due: one coalesced ACK, and a withheld NAK whose gap still stands. Called once per run for
/// every flow in which something changed.
void settle_acks(SourceFlow& f, const RoleCtx& ctx);

/// A fatal NAK for a poisoned QP (H12), at the oldest PSN the sender has outstanding.
void give_fault_nak(SourceFlow& f, const RoleCtx& ctx);

}  // namespace matchrdma
