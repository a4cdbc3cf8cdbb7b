#pragma once
// The door of the source role: what a request from the LAN becomes (PROTOCOL 4, "Accept, in unwrapped PSN
// order").
#include "dataplane/flow/role_ctx.h"
#include "dataplane/source/gate.h"
#include "dataplane/source/source_flow.h"

namespace matchrdma {

/// What the shard has to do with the packet after `accept_request`.
enum class Accepted : uint8_t {
  kTaken,          ///< owned, kept, absorbed or dropped by rule: nothing more to do
  kForward,        ///< forward untouched, charged outside the gate
  kNewGeneration,  ///< the QP lives anew: close the old generation, then treat the packet again
  kBeganEarlier,   ///< it was under way before its registered start: join it in the middle, forward the packet
};

/// One request with a right ICRC on an active flow. `packet` is moved from only if kTaken.
Accepted accept_request(SourceFlow& f, const Frame& req, PacketRef& packet, Gate& gate, const RoleCtx& ctx);
/// The same while base is set and the barrier is not lifted: everything is forwarded, copies are kept in order.
/// False: there is no room for the copy of the next one. It passes all the same, so nothing from base on can be
/// promised.
bool accept_before_lift(SourceFlow& f, const Frame& req, PacketRef& packet, const RoleCtx& ctx);

/// Due work of the LAN gap: the NAK after lan_reorder_wait. Due work of hold_max.
void run_accept_timers(SourceFlow& f, const RoleCtx& ctx);
Instant accept_deadline(SourceFlow& f, const RoleCtx& ctx);

}  // namespace matchrdma
