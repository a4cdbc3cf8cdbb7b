#pragma once
// What is written down of a request when custody of it is taken.
#include "dataplane/flow/role_ctx.h"
#include "dataplane/source/source_flow.h"

namespace matchrdma {

/// Counts the messages of the flow on. The packet stands at `psn` and takes `psns` of them.
Owned make_owned(SourceFlow& f, const Frame& req, Seq psn, uint32_t psns, PacketRef packet, const RoleCtx& ctx);

inline void count_taken(uint32_t bytes, const RoleCtx& ctx) {
  ctx.n->custody_bytes += bytes;
  ++ctx.n->custody_packets;
  ctx.n->custody_peak = std::max(ctx.n->custody_peak, ctx.n->custody_bytes);
}

}  // namespace matchrdma
