#pragma once
// Congestion notification to the sender at once instead of a round trip later (PROTOCOL 5).
#include "dataplane/flow/role_ctx.h"
#include "dataplane/source/source_flow.h"

namespace matchrdma {

/// CNPs of one LAN port: NICs keep a minimum gap per port.
struct CnpPort {
  Instant last{-1'000'000'000'000};
};

/// A CE-marked request of an active flow: CNP by the limiters, and only then the mark is rewritten (H11).
/// May replace `packet` by a copy.
void on_congestion_mark(SourceFlow& f, const Frame& req, PacketRef& packet, CnpPort& port, const RoleCtx& ctx);
/// The gate of the flow's group holds more than its threshold.
void on_gate_backlog(SourceFlow& f, CnpPort& port, const RoleCtx& ctx);

}  // namespace matchrdma
