#pragma once
// How two live ends of matchrdma-xfer agree on a transfer: the sender's settings as an offer, and back.
#include "host/control/control_message.h"
#include "host/xfer/transfer.h"

namespace matchrdma {

/// Of the sender. An error names the setting that does not fit.
Result<host::TransferOffer> make_offer(const host::XferSettings& s, uint64_t bytes, uint32_t epoch);

/// What the receiver makes of an offer. /// An error is a sentence for the sender's user: why this end, with
/// this NIC, does not take it.
Result<host::XferSettings> take_offer(const host::TransferOffer& o, const host::NicLimits& nic);

/// Whether the settings fit a port; `whose`: "this end" or "the other end".
Result<void> fits(const host::XferSettings& s, uint32_t max_path_mtu, const std::string& whose);

}  // namespace matchrdma
