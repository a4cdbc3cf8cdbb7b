#pragma once
// Requests from the span: in order at once, behind a hole kept, twice dropped (PROTOCOL 7, H2, H17).
#include "dataplane/destination/egress.h"

namespace matchrdma {

/// A request with right ICRC of a tracked flow. Moves `packet` out.
void on_request(DestinationFlow& f, const Frame& req, PacketRef packet, Egress& egress, const RoleCtx& ctx);

/// What is kept of a request until the receiver acknowledged it.
Held held_of(const Frame& req, Seq psn, uint32_t psns, PacketRef packet);
/// So many bytes have joined the flow's ring, undelivered.
void count_in(DestinationFlow& f, uint32_t bytes, const RoleCtx& ctx);

/// Bytes of reorder_memory that this flow may still take.
uint64_t reorder_room(const DestinationFlow& f, const RoleCtx& ctx);

/// The receiver has everything below `end` though it did not all pass here (it went before base was known).
void skip_to(DestinationFlow& f, Seq end, Egress& egress, const RoleCtx& ctx);

}  // namespace matchrdma
