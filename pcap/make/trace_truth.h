#pragma once
// What is true of a made trace, for tests that must find it out from the packets.
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/base/time.h"
#include "dataplane/base/types.h"

namespace matchrdma {

/// One end of a connection and what it sent.
struct TraceEnd {
  IpAddress ip;
  Qpn qpn;
  Psn start;                         ///< first PSN that it sends
  uint16_t udp_port = 0;             ///< source port of what it sends
  bool visible = true;               ///< the capture shows what it sent
  uint64_t packets = 0;              ///< captured, without CM MADs
  uint64_t requests = 0;             ///< of these: requests of the RC transport
  std::optional<Psn> first_request;  ///< PSN of the first captured request
  Instant first_seen = Instant::never();
};

/// One connection in one of its lives. `a` stands at site A.
struct TracePair {
  TraceEnd a, b;
  uint32_t host_pair = 0, life = 0;
  uint32_t path_mtu = 0;
  uint16_t vlan_outer = 0, vlan_inner = 0;
  Instant born = Instant::never();   ///< on the clock of the capture: both ends may send
  Instant ended = Instant::never();  ///< everything is answered, the QPNs are free
  uint64_t messages = 0;             ///< work requests completed, both ways
  uint64_t retransmitted = 0;        ///< request packets sent again, both ways
  TraceEnd& end(int side) { return side == 0 ? a : b; }
};

struct TraceTruth {
  std::vector<TracePair> pairs;     ///< in the order of their birth
  uint64_t packets = 0, bytes = 0;  ///< captured
  uint64_t messages = 0;            ///< completed, also by queue pairs that the capture does not show
  uint64_t lost = 0;                ///< packets that never reached their host
  uint64_t marked = 0, cnps = 0, retransmitted = 0;
  uint64_t hidden = 0;  ///< packets that passed the tap unseen: of hidden queue pairs, or before it joined
  Instant first, last;  ///< captured
  Instant begin;        ///< of the run: a tap that joins late sees nothing of it
};

}  // namespace matchrdma
