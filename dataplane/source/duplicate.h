#pragma once
// A request below epsn: a retransmission of the same packet, or the first sign of a new life of the QP (C3,
// C4).
#include "dataplane/source/accept.h"

namespace matchrdma {

Accepted on_duplicate(SourceFlow& f, const Frame& req, Seq psn, PacketRef& packet, Gate& gate,
                      const RoleCtx& ctx);

}  // namespace matchrdma
