#pragma once
// Counters of one worker: plain numbers, read by others without locks.
// The one list: a line adds the member, its metric, its HELP text and its line in docs/metrics.md.
#include <cstdint>

#include "dataplane/base/reason.h"

namespace matchrdma {

enum class CounterKind : uint8_t {
  kCounter,  ///< only rises; its metric ends in _total
  kGauge,    ///< rises and falls
  kPeak,     ///< a gauge: the highest value of another one since start
};

// clang-format off
//   member                kind      key in metrics                    unit        HELP
#define MATCHRDMA_COUNTERS(X)                                                                                          \
  X(rx_lan,                kCounter, "lan_received_packets",           "packets",  "Packets received from the LAN")    \
  X(rx_wan,                kCounter, "wan_received_packets",           "packets",  "Packets received from the span")   \
  X(roce,                  kCounter, "roce_packets",                   "packets",  "Received packets that are RoCEv2") \
  X(pseudo_acks,           kCounter, "pseudo_acks",                    "packets",  "ACKs given to local senders from custody") \
  X(naks_sent,             kCounter, "sequence_naks",                  "packets",  "Sequence-error NAKs given to local senders") \
  X(fault_naks,            kCounter, "fault_naks",                     "packets",  "Fatal NAKs given to senders whose QP had to fail") \
  X(cnps,                  kCounter, "cnps",                           "packets",  "CNPs made for local senders")      \
  X(pauses,                kCounter, "pauses",                         "packets",  "PFC frames sent into the LAN because custody was short of memory") \
  X(ce_rewritten,          kCounter, "ce_rewritten_packets",           "packets",  "Congestion marks of the span taken off before delivery") \
  X(real_acks_absorbed,    kCounter, "receiver_acks_absorbed",         "packets",  "ACKs of receivers that ended here") \
  X(real_naks_absorbed,    kCounter, "receiver_naks_absorbed",         "packets",  "Sequence-error NAKs of receivers that ended here") \
  X(real_rnrs_absorbed,    kCounter, "receiver_rnrs_absorbed",         "packets",  "RNR NAKs of receivers that ended here") \
  X(receiver_cnps,         kCounter, "receiver_cnps",                  "packets",  "CNPs of receivers that ended here") \
  X(spurious_retransmit,   kCounter, "spurious_retransmits",           "packets",  "Retransmissions by senders of what was owned and not lost") \
  X(custody_resends,       kCounter, "custody_resends",                "packets",  "Packets sent over the span again from custody") \
  X(probes,                kCounter, "receiver_probes",                "packets",  "Probes of a receiver that was silent") \
  X(redelivered,           kCounter, "redelivered_packets",            "packets",  "Packets delivered to a receiver again") \
  X(generations,           kCounter, "flow_generations",               "events",   "New generations of flows")         \
  X(faults,                kCounter, "flow_faults",                    "events",   "QPs failed because their data could not be delivered") \
  X(poisoned_discarded,    kCounter, "poisoned_discarded_packets",     "packets",  "Owned packets discarded because their QP was failed or ended") \
  X(idle_fault_events,     kCounter, "idle_fault_events",              "events",   "Faults of senders that were idle: nobody could be told") \
  X(pairs_learned,         kCounter, "pairs_learned",                  "events",   "QP pairs learned here, by CM or correlation") \
  X(contradictions,        kCounter, "pair_contradictions",            "events",   "Pairs that turned out to be inferred wrongly") \
  X(rehash_events,         kCounter, "rehash_events",                  "events",   "Senders found to be acknowledged by another path") \
  X(custody_bytes,         kGauge,   "custody_bytes",                  "bytes",    "Owned packets: accepted and not confirmed") \
  X(custody_packets,       kGauge,   "custody_packets",                "packets",  "Packets owned: accepted and not confirmed") \
  X(custody_peak,          kPeak,    "custody_peak_bytes",             "bytes",    "Highest value of custody_bytes since start") \
  X(gate_bytes,            kGauge,   "gate_bytes",                     "bytes",    "Owned packets that the budget has not admitted yet") \
  X(gate_peak,             kPeak,    "gate_peak_bytes",                "bytes",    "Highest value of gate_bytes since start") \
  X(held_bytes,            kGauge,   "held_bytes",                     "bytes",    "Packets held at the destination: reorder, undelivered and unsettled") \
  X(held_peak,             kPeak,    "held_peak_bytes",                "bytes",    "Highest value of held_bytes since start") \
  X(unsettled_bytes,       kGauge,   "unsettled_bytes",                "bytes",    "Packets delivered to receivers and not acknowledged by them yet: a part of held_bytes") \
  X(admitted_bytes,        kCounter, "admitted_bytes",                 "bytes",    "Bytes admitted to the span and charged to budgets")
// clang-format on

struct Counters {
  ReasonCounters reasons;
#define MATCHRDMA_X(member, kind, key, unit, help) uint64_t member = 0;
  MATCHRDMA_COUNTERS(MATCHRDMA_X)
#undef MATCHRDMA_X
};

}  // namespace matchrdma
