#pragma once
// What is written down of a request when custody of it is taken.
#include "dataplane/flow/role_ctx.h"
#include "dataplane/source/source_flow.h"

namespace matchrdma {

/// Takes the packet, which stands at epsn and occupies `psns` of them, into the window, and counts it and its
/// message. nullptr when there is no room: `packet` and everything else is as it was then.
Owned* own(SourceFlow& f, const Frame& req, uint32_t psns, PacketRef& packet, const RoleCtx& ctx);

}  // namespace matchrdma
