#pragma once
// CUSTODY_ACK: what the destination holds and the receiver has, repeated until a mark echoes it (PROTOCOL 6).
#include "dataplane/destination/egress.h"

namespace matchrdma {

void on_mark(DestinationFlow& f, const SentMark& m, Egress& egress, const RoleCtx& ctx);
void run_report_timer(DestinationFlow& f, const RoleCtx& ctx);
Instant report_deadline(DestinationFlow& f, const RoleCtx& ctx);

}  // namespace matchrdma
