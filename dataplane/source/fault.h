#pragma once
// The end of a QP at its source: the receiver failed it, or the destination gave up on a silent receiver
// (PROTOCOL 4, 7; C9, C10, H12).
#include "dataplane/flow/role_ctx.h"
#include "dataplane/source/gate.h"
#include "dataplane/source/source_flow.h"

namespace matchrdma {

/// The QP has failed: everything owned is discarded and counted, the sender is told where it stands.
void poison(SourceFlow& f, uint8_t syndrome, Gate& gate, const RoleCtx& ctx);
/// A request of the sender on a failed QP: it is told again until it stops.
void on_request_poisoned(SourceFlow& f, const Frame& req, const RoleCtx& ctx);

/// What a doubted flow turned out to be.
enum class Verdict : uint8_t { kOpen, kFailed, kElsewhere };

/// The destination heard nothing of the receiver for the repair bound. Nothing more is taken or acknowledged,
/// requests pass, and what the sender does tells whether its QP is stuck.
void doubt(SourceFlow& f, uint8_t syndrome, Gate& gate, const RoleCtx& ctx);
/// A request of a doubted flow; the caller forwards it unless the QP has failed.
Verdict on_request_doubted(SourceFlow& f, const Frame& req, const RoleCtx& ctx);
/// kOpen until doubt_wait is over.
Verdict judge(const SourceFlow& f, Instant now);

}  // namespace matchrdma
