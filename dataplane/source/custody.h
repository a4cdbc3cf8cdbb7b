#pragma once
// What is owned stays until the receiver has it: release by CUSTODY_ACK, repair of holes on the span, marks,
// RTO.
#include "dataplane/flow/role_ctx.h"
#include "dataplane/source/gate.h"
#include "dataplane/source/source_flow.h"

namespace matchrdma {

/// Takes the destination's report. Values outside (confirmed, highest sent] are ignored and counted.
void on_custody_ack(SourceFlow& f, const CustodyAck& a, Gate& gate, const RoleCtx& ctx);
/// Everything below `end` is at the receiver. `msn`: what it said with that, for packets that passed without
/// being kept (before the barrier was lifted, beyond a memory limit).
void confirm(SourceFlow& f, Seq end, Msn msn, const RoleCtx& ctx);
/// All responses of the READ-class request up to `end` passed: the receiver has it and everything before it
/// (H7).
void confirm_answered(SourceFlow& f, const RoleCtx& ctx);
/// Queues the owned packet at `psn` for resend (a raw NAK on the span, H6; a hole; the RTO).
void resend_from(SourceFlow& f, Seq psn, Gate& gate, const RoleCtx& ctx);
/// Sends the marks and resends that are due.
void run_repair_timers(SourceFlow& f, Gate& gate, const RoleCtx& ctx);
/// When run_repair_timers has something to do.
Instant repair_deadline(SourceFlow& f, const RoleCtx& ctx);
/// The peer is silent: what was never acknowledged is discarded from the newest back, and the sender resends it
/// (PROTOCOL 8, span down). A READ-class request stays, its responses may be under way.
void discard_unacknowledged(SourceFlow& f, Gate& gate, const RoleCtx& ctx);
/// Forgets every owned packet, the gate's included. Fences stay: the sender still waits for those responses.
void discard_owned(SourceFlow& f, Gate& gate, const RoleCtx& ctx);

}  // namespace matchrdma
