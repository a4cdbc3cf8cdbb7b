#pragma once
// The short way of an in-order request: held and delivered at once, where nothing about its flow, its receiver
// and its worker asks for a closer look. It does what on_request() would do, and no more; whatever is not plain
// goes there.
#include "dataplane/destination/egress.h"
#include "dataplane/flow/plain.h"

namespace matchrdma {

Plain deliver_plain(DestinationFlow& f, const Frame& req, PacketRef& packet, Egress& egress,
                    const RoleCtx& ctx);

/// It went plain, and an ACK of its receiver has not changed that.
bool stays_plain(const DestinationFlow& f);
/// The flow's packets may go the short way until something else happens to it.
bool goes_plain(const DestinationFlow& f, const RoleCtx& ctx);

}  // namespace matchrdma
