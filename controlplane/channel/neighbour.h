#pragma once
// ARP and neighbour discovery for the proxy's own address on one WAN port (PROTOCOL 6).
#include "controlplane/channel/control_packet.h"
#include "controlplane/channel/neighbour_message.h"
#include "dataplane/base/time.h"
#include "dataplane/base/token_bucket.h"

namespace matchrdma {

struct NeighbourConfig {
  NeighbourSelf self;
  uint8_t prefix_bits = 0;           ///< of the link, counted in the family of the address
  IpAddress peer;                    ///< of the same family
  std::optional<IpAddress> gateway;  ///< next hop to a peer outside the prefix
  std::optional<Mac> peer_mac;       ///< as the operator wrote it: never asked for, never learned
};

struct NeighbourCounters {
  uint64_t asked = 0;      ///< questions that we sent
  uint64_t answered = 0;   ///< questions for our address that we answered
  uint64_t limited = 0;    ///< questions beyond the rate at which we answer
  uint64_t learned = 0;    ///< times that the next hop had a new MAC
  uint64_t broken = 0;     ///< frames about our address that fail a check of their RFC
  uint64_t conflicts = 0;  ///< frames of another station that uses our address
};

/// Duty: to be found by others at our address, and to know the MAC towards the peer. Everything about other
/// addresses is ordinary traffic of the hosts and passes. Does not know ports, datagrams or when it is called.
/// Sends no MLD reports: a switch on the span must not prune solicited-node groups, as for any bare link.
class Neighbour {
 public:
  explicit Neighbour(const NeighbourConfig& config);

  enum class Verdict : uint8_t {
    kForeign,   ///< not about our address: forward it
    kConsumed,  ///< ours: drop it, nothing of it leaks to the LAN
  };
  /// Judges any frame from the WAN. `reply.size` != 0: send it on the WAN. Never reads outside `frame`.
  Verdict take(Bytes frame, Instant now, NeighbourFrame& reply);

  /// Next frame that we owe by ourselves: the announcement at start, questions. False: none now.
  bool due(Instant now, NeighbourFrame& out);
  /// When due() has something to say; never() with a configured MAC.
  Instant next_wakeup() const;

  /// How to write to the peer; empty as long as the next hop's MAC is not known.
  std::optional<ControlPath> path() const;
  /// The same to read by (recognise_control): the MAC of the next hop may be zero.
  const ControlPath& addresses() const { return path_; }
  const IpAddress& next_hop() const { return next_hop_; }
  const NeighbourCounters& counters() const { return counters_; }

 private:
  Verdict asked(const NeighbourMessage& m, Instant now, NeighbourFrame& reply);
  Verdict told(const NeighbourMessage& m, Instant now);
  /// Somebody else claims our address, or our own frame came back.
  bool is_conflict(const NeighbourMessage& m);
  void learn(const std::optional<Mac>& mac, bool overrides, Instant now);

  NeighbourConfig config_;
  IpAddress next_hop_;
  ControlPath path_;
  std::optional<Mac> mac_;
  NeighbourCounters counters_;
  TokenBucket answers_;  ///< one byte of credit is one answer
  Instant ask_at_{};
  uint32_t unanswered_ = 0;  ///< questions since the last answer
  bool announced_ = false;
};

}  // namespace matchrdma
