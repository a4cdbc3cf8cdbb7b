#pragma once
// Where the capture is taken.
#include <string>
#include <unordered_map>

#include "dataplane/base/prng.h"
#include "pcap/make/make_trace.h"
#include "pcap/make/trace_plan.h"

namespace matchrdma {

/// Duty: marks, hides, captures and counts what passes. Does not know hosts or wires.
class Tap {
 public:
  /// All three must outlive it.
  Tap(const TraceRecipe& r, PacketSink& sink, TraceTruth& truth, Instant begin);

  /// From now on the QPNs of truth.pairs[pair] and, where there are any, its communication ids mean this pair.
  void watch(size_t pair, uint32_t cm_id_a, uint32_t cm_id_b);
  /// `side` sends. May set CE in `frame`.
  void see(uint32_t host_pair, int side, MutableBytes frame, Instant now);

  /// What the sink said; empty while all is well.
  const std::string& error() const { return error_; }

 private:
  TraceEnd* sender_of(const Frame& f, uint32_t host_pair, int side);
  void count(const Frame& f, TraceEnd& e, Instant now);

  const TraceRecipe& r_;
  PacketSink& sink_;
  TraceTruth& truth_;
  Instant joins_;
  Prng prng_;
  std::unordered_map<uint64_t, size_t> by_qpn_;    ///< receiving end -> pair
  std::unordered_map<uint32_t, size_t> by_cm_id_;  ///< of the sender -> pair
  std::string error_;
};

}  // namespace matchrdma
