#pragma once
// The peer has lost its memory while this flow owns packets (PROTOCOL 8, destination proxy restarts): the flow
// is opened again from the oldest owned PSN, without a barrier. What was acknowledged stays acknowledged.
#include "dataplane/source/gate.h"
#include "dataplane/source/source_flow.h"

namespace matchrdma {

/// The first step. `id` is new: nothing said about the old life can be taken for this one.
void reopen(SourceFlow& f, FlowId id, Gate& gate, const RoleCtx& ctx);
void on_opened_again(SourceFlow& f, const FlowOpened& m, const RoleCtx& ctx);
/// Nothing is owned any more while the far side has not opened it, and may never do: the flow owes nothing.
void finish_reopening(SourceFlow& f, Gate& gate, const RoleCtx& ctx);
/// Both know the base again: everything owned is sent anew, in order.
void on_base_answered_again(SourceFlow& f, const FlowBaseAck& m, Gate& gate, const RoleCtx& ctx);

}  // namespace matchrdma
