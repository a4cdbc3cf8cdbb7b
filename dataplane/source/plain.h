#pragma once
// The short way of an in-order request: accepted, admitted and put on the span at once, where nothing about its
// flow, its group and its worker asks for a closer look. It does what accept_request() would do, and no more;
// whatever is not plain goes there.
#include "dataplane/flow/plain.h"
#include "dataplane/source/gate.h"

namespace matchrdma {

Plain accept_plain(SourceFlow& f, const Frame& req, PacketRef& packet, const RoleCtx& ctx);

/// It went plain, and a report or a timer of it has not changed that.
inline bool stays_plain(const SourceFlow& f) { return f.plain_left > 0 && f.resend_pending == 0; }
/// How many packets of the flow may go the short way until something else happens to it.
uint32_t plain_packets(const SourceFlow& f, const RoleCtx& ctx);

}  // namespace matchrdma
