#pragma once
// What an engine is made with, and what it counts. Both ends must have the same shape.
#include <algorithm>
#include <cstdint>

#include "dataplane/base/time.h"
#include "dataplane/base/types.h"
#include "host/fabric/bytes_in.h"
#include "host/fabric/nic.h"

namespace matchrdma::host {

/// For tests of the tests: rules that are taken out must be caught.
struct ChannelFaults {
  bool no_fence = false;              ///< HOST.md rule 2: buffers go at the error, old queue pairs live on
  bool sender_only_fence = false;     ///< HOST.md rule 2: FENCED is said, the queue pair lives on
  bool retire_on_completion = false;  ///< HOST.md C1: a completion counts as arrival
};

struct ChannelOptions {
  /// One end offers queue pairs, the other answers.
  bool offers = false;
  /// Numbers of this engine on the control connection: paths first_path (RC) and first_path + 1 (TCP), streams
  /// from first_stream on, connections + windows + 1 of them.
  uint32_t first_path = 0, first_stream = 0;

  // Shape: the same at both ends.
  uint32_t connections = 64;     ///< logical ones, numbered from 0
  uint32_t windows = 8;          ///< persistent one-way channels, each direction
  uint32_t small_bytes = 4096;   ///< up to here a message is one SEND and is copied at both ends
  uint32_t messages_ahead = 64;  ///< of one connection that the peer's application has not taken
  uint32_t fragment_bytes = 16384;
  uint64_t longest_message = uint64_t{1} << 30;  ///< bytes; memory that the peer may make this end provide

  uint32_t receives = 1024;        ///< posted; at least 2 BDP / fragment_bytes
  uint32_t send_queue = 1024;      ///< work requests
  uint32_t send_slots = 256;       ///< SENDs and counters under way
  uint64_t send_window = 4 << 20;  ///< bytes posted and not completed: about 2 BDP
  uint32_t requests_ahead = 4;     ///< large messages of one connection that are announced
  bool round_robin = true;         ///< false: a connection goes on while it can

  Duration ping_every = Duration::seconds(1);
  Duration peer_patience = Duration::seconds(10);  ///< without a word of the peer's process it counts as dead
  Duration path_patience =
      Duration::seconds(2);  ///< with work under way and nothing moving the path is given up
  Duration offer_patience = Duration::seconds(1);   ///< for an offered queue pair to be opened
  Duration retry_after = Duration::millis(100);     ///< between the end of a path and the next offer
  Duration fallback_after = Duration::millis(200);  ///< without RDMA messages go over TCP
  ConnectOptions connection;
  ChannelFaults faults;
};

/// Queues and window of `o` for a path of this rate: 1.5 BDP outstanding, receives and requests for 2 BDP. Each
/// receive takes small_bytes of memory.
inline void size_for_path(ChannelOptions& o, Rate rate, Duration round_trip) {
  const auto bdp = static_cast<uint64_t>(bytes_in(rate, round_trip));
  const uint64_t fragments = 2 * bdp / o.fragment_bytes;
  o.send_window = std::max<uint64_t>(bdp * 3 / 2, uint64_t{4} * o.fragment_bytes);
  o.receives = static_cast<uint32_t>(std::clamp<uint64_t>(fragments, 64, 1 << 15));
  o.send_queue = static_cast<uint32_t>(std::clamp<uint64_t>(fragments, 256, 1 << 16));
}

/// For people.
struct ChannelCounters {
  uint64_t messages_sent = 0, messages_received = 0;
  uint64_t small = 0, large = 0, puts = 0,
           over_pipe = 0;              ///< messages whose last piece was posted, again ones too
  uint64_t batches = 0, requests = 0;  ///< doorbells, and work requests behind them
  uint64_t counter_writes = 0;
  uint64_t torn_counters = 0;  ///< looked at while half was written
  uint64_t no_credit = 0;      ///< looks at a message that must wait for the peer's receives
  uint64_t window_full = 0;    ///< looks at a fragment that must wait for completions
  uint64_t fences = 0, path_errors = 0, path_stalls = 0, offers_failed = 0;
  uint64_t replayed = 0;  ///< messages begun again on another way
  uint64_t fallbacks = 0, returns = 0;
  uint64_t stale_pipe = 0;  ///< frames of a turn of the TCP way that was over
  uint64_t bad = 0;         ///< what a right peer does not say
};

}  // namespace matchrdma::host
