#pragma once
// The messages of a capture: second pass, behind TraceFlows.
#include <cstdint>
#include <vector>

#include "dataplane/base/result.h"
#include "pcap/capture_reader.h"
#include "pcap/trace_flows.h"

namespace matchrdma {

/// One WRITE, SEND or READ of an RC or UC queue pair, as the tap saw it.
struct TraceMessage {
  IpAddress source, destination;  ///< of the data: a READ's goes to who posted it
  uint32_t qp = 0;                ///< TraceFlows::streams(), that of the requests
  uint64_t bytes = 0;
  Instant start;                         ///< its first packet
  Instant completed = Instant::never();  ///< RC: its answer; UC: its last packet; never: not seen
  bool read = false;
};

struct TraceMessages {
  std::vector<TraceMessage> messages;  ///< in the order of their starts
  uint64_t cut_off = 0;                ///< whose beginning or end the capture does not show: not in the above
};

/// Messages of the capture that `flows` has been made of. What was sent again counts once; atomics, FLUSH and
/// datagrams do not count. Sizes: a WRITE's and a READ's stand in the RETH, a SEND's follows from its first and
/// last packet. Times are those at the tap: from a completion to the next start it is the sender's own time
/// where the tap stands at the sender.
Result<TraceMessages> read_messages(CaptureReader reader, const TraceFlows& flows);

}  // namespace matchrdma
