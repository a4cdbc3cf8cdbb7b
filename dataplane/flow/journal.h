#pragma once
// What must survive the death of a source proxy (PROTOCOL 8, H13): which QPs were promised more than their
// receivers have. The core emits records, its host writes them where a killed process does not lose them.
#include "dataplane/base/types.h"
#include "dataplane/flow/flow_key.h"

namespace matchrdma {

/// Newest state of one slot; a record replaces the one before it in its slot. Bounds are exclusive ends.
struct JournalRecord {
  uint32_t slot = 0;      ///< below Limits::max_flows
  bool promised = false;  ///< the sender was acknowledged what the receiver has not confirmed
  FlowKey key;
  Qpn sender_qpn;
  uint32_t path_mtu = 0;
  Psn acked_end;      ///< everything below was acknowledged to the sender
  Psn confirmed_end;  ///< the receiver has everything below
  Msn msn;            ///< as told with acked_end
  bool operator==(const JournalRecord&) const = default;
};

}  // namespace matchrdma
