#pragma once
// Counters of one worker: plain numbers, read by others without locks.
#include <cstdint>

#include "dataplane/base/reason.h"

namespace matchrdma {

struct Counters {
  ReasonCounters reasons;
  uint64_t rx_lan = 0, rx_wan = 0, roce = 0;
  uint64_t pseudo_acks = 0, naks_sent = 0, fault_naks = 0, cnps = 0, ce_rewritten = 0;
  uint64_t real_acks_absorbed = 0, real_naks_absorbed = 0, real_rnrs_absorbed = 0, receiver_cnps = 0;
  uint64_t spurious_retransmit = 0;  ///< H4
  uint64_t custody_resends = 0, probes = 0, redelivered = 0;
  uint64_t generations = 0, faults = 0, poisoned_discarded = 0, idle_fault_events = 0;
  uint64_t pairs_learned = 0;                    ///< by CM or correlation, here
  uint64_t contradictions = 0;                   ///< pairs inferred wrongly (C6)
  uint64_t rehash_events = 0;                    ///< senders that are acknowledged by another path (C9, C10)
  uint64_t custody_bytes = 0, custody_peak = 0;  ///< owned packets
  uint64_t gate_bytes = 0, gate_peak = 0;        ///< part of them not yet admitted
  uint64_t held_bytes = 0, held_peak = 0;        ///< destination: reorder, undelivered and unsettled
  uint64_t admitted_bytes = 0;                   ///< charged to budgets
};

}  // namespace matchrdma
