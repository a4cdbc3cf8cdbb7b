#pragma once
// The times one worker measures on its own packets: one list for metrics, docs and snapshots (law 10).
#include "dataplane/base/time_histogram.h"

namespace matchrdma {

// clang-format off
//   field         key in metrics          HELP
#define MATCHRDMA_LATENCIES(X)                                                                                  \
  X(ack,           "ack_latency_seconds",  "Time from accepting a request that asks for an ACK to giving that ACK") \
  X(gate_wait,     "gate_wait_seconds",    "Time an accepted packet waits until the budget admits it to the span")   \
  X(custody_age,   "custody_age_seconds",  "Age of a packet when the receiver's confirmation releases it")
// clang-format on

struct Latencies {
#define MATCHRDMA_X(field, key, help) TimeHistogram field;
  MATCHRDMA_LATENCIES(MATCHRDMA_X)
#undef MATCHRDMA_X
};

}  // namespace matchrdma
