#pragma once
// Makes captures of RoCEv2 traffic between model NICs.
//
//   TraceRecipe recipe;
//   recipe.qps = 4;
//   auto truth = make_trace(recipe, sink);   // sink gets the packets in order of time
#include "dataplane/base/bytes.h"
#include "dataplane/base/result.h"
#include "pcap/make/trace_recipe.h"
#include "pcap/make/trace_truth.h"

namespace matchrdma {

/// Where captured packets go.
class PacketSink {
 public:
  virtual ~PacketSink() = default;
  /// Times never go back. An error ends the making.
  virtual Result<void> packet(Instant time, Bytes frame) = 0;
};

/// Same recipe, same packets. Fails for a recipe that check_recipe() refuses and when the sink fails.
Result<TraceTruth> make_trace(const TraceRecipe& recipe, PacketSink& sink);

}  // namespace matchrdma
