#pragma once
// Repair on the receiver's LAN: sequence NAK, RNR NAK, silence. Bounded by time without progress (PROTOCOL 7).
#include "dataplane/destination/egress.h"

namespace matchrdma {

/// The receiver is at `psn` and threw away what came after: delivery goes back to it.
void redeliver_from(DestinationFlow& f, Seq psn, Cause cause, Egress& egress, const RoleCtx& ctx);
/// RNR NAK at `psn` with a timer code (IBA table 45): delivery waits, then starts again there.
void wait_receiver_not_ready(DestinationFlow& f, Seq psn, uint8_t timer_code, const RoleCtx& ctx);
/// Minimum wait for an RNR timer code 0..31.
Duration rnr_timer(uint8_t code);
/// The receiver killed the QP: the source is told, what is held is discarded (H12).
void fault(DestinationFlow& f, uint8_t syndrome, Egress& egress, const RoleCtx& ctx);
/// Due probes, ends of RNR waits, the repair bound.
void run_repair_timers(DestinationFlow& f, Egress& egress, const RoleCtx& ctx);
Instant repair_deadline(const DestinationFlow& f, const RoleCtx& ctx);

}  // namespace matchrdma
