#pragma once
// From a known pair to pseudo-ACKs and back: OPEN, BASE, barrier, LIFTED, close (PROTOCOL 3; C4, C5, C10).
#include "dataplane/flow/role_ctx.h"
#include "dataplane/source/gate.h"
#include "dataplane/source/source_flow.h"

namespace matchrdma {

/// Starts the handshake of a paired flow. `id` is new.
void open_flow(SourceFlow& f, FlowId id, const RoleCtx& ctx);
void on_opened(SourceFlow& f, const FlowOpened& m, const RoleCtx& ctx);
void on_base_answered(SourceFlow& f, const FlowBaseAck& m, const RoleCtx& ctx);
/// The receiver's own ACK or sequence NAK seen on its way to the sender while there is no pseudo-ACK yet: it
/// acknowledges everything below `end`. May lift the barrier.
void on_real_ack_before_lift(SourceFlow& f, Seq end, Msn msn, Gate& gate, const RoleCtx& ctx);
/// An answer about what this flow never sent. Some in a row: the pair was inferred wrongly, and it drains to
/// transparent (C6).
void contradict(SourceFlow& f, Gate& gate, const RoleCtx& ctx);
/// A NAK or RNR NAK below base passed: base and copies are forgotten at both ends.
void forget_base(SourceFlow& f, Gate& gate, const RoleCtx& ctx);
/// A new life of the QP: the old one is destroyed at both ends before packets of the new one may pass (C4).
/// `whole_qp`: the far side ends the reverse flow too.
void new_generation(SourceFlow& f, bool whole_qp, Gate& gate, const RoleCtx& ctx);
/// No new custody: what comes is kept behind what is owned, and the flow becomes transparent when all is
/// confirmed.
void drain(SourceFlow& f);
/// An operator's drain, whatever the flow is doing: what was promised is delivered, then it is transparent.
void order_drain(SourceFlow& f, Gate& gate, const RoleCtx& ctx);
/// What an operator's drain made transparent may be opened again.
void allow_again(SourceFlow& f);
/// Keeps a packet of a draining or closing flow, bounded.
void keep_until_closed(SourceFlow& f, PacketRef packet, const RoleCtx& ctx);
/// Ends the drain when nothing is owned any more.
void finish_drain(SourceFlow& f, Gate& gate, const RoleCtx& ctx);
void on_closed(SourceFlow& f, const RoleCtx& ctx);
/// Repeats what was not answered.
void run_handshake_timer(SourceFlow& f, const RoleCtx& ctx);
/// Says the step of the handshake that the flow's state asks for, and arms its repeats.
void say_handshake(SourceFlow& f, const RoleCtx& ctx);
/// The peer was lost or came back without its state: base is forgotten, what comes passes meanwhile.
void start_over(SourceFlow& f, Gate& gate, const RoleCtx& ctx);
/// The host has fenced its QP, or it has another partner now: what is owned is destroyed at both ends.
void end_for_good(SourceFlow& f, Gate& gate, const RoleCtx& ctx);
/// The sender is acknowledged by another path: what is owned is dropped, the flow becomes transparent.
void leave_alone(SourceFlow& f, Gate& gate, const RoleCtx& ctx);

}  // namespace matchrdma
