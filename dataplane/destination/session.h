#pragma once
// The destination's half of the handshakes: OPEN, BASE, LIFTED, CLOSE (PROTOCOL 3).
#include "dataplane/destination/egress.h"

namespace matchrdma {

void on_open(DestinationFlow& f, const FlowOpen& m, Egress& egress, const RoleCtx& ctx);
void on_base(DestinationFlow& f, const FlowBase& m, const RoleCtx& ctx);
void on_lifted(DestinationFlow& f, const FlowLifted& m, Egress& egress, const RoleCtx& ctx);
/// The old generation ends: its requests are dropped from now on, and the answer waits for the marker (C4).
void on_close(DestinationFlow& f, const FlowClose& m, Egress& egress, const RoleCtx& ctx);
void on_close_marker(DestinationFlow& f, const CloseMarker& m, const RoleCtx& ctx);
void run_session_timer(DestinationFlow& f, const RoleCtx& ctx);
Instant session_deadline(const DestinationFlow& f, const RoleCtx& ctx);

}  // namespace matchrdma
