#pragma once
// The hosts of a replay: each sends what it was captured sending, no earlier than its cause allows.
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "dataplane/base/packet.h"
#include "model/growing_ring.h"
#include "pcap/packet_view.h"
#include "pcap/replay_causality.h"

namespace matchrdma {

/// A captured packet on its way into the replay.
struct FedPacket {
  PacketRef packet;
  PacketView view;  ///< of `packet`
  Instant captured;
  Dependency dependency;
  uint64_t index = 0;
  Site site = 0;
  int host = 0;
  Instant entry;  ///< set when it enters
};

/// Duty: one queue per host, in file order. A host whose next packet lacks its cause waits with all that
/// follows; what it then comes later than captured is its shift, which it keeps.
class ReplayHosts {
 public:
  /// `origin`: virtual time minus captured time of a host without shift.
  ReplayHosts(const TraceFlows& flows, Causality& causality);
  void set_origin(Duration origin) { origin_ = origin; }
  Duration origin() const { return origin_; }

  void push(FedPacket p, Instant now);
  /// When the next packet enters the LAN of `site`; never: none is ready.
  Instant next(Site site) const;
  /// The packet of next(site).
  FedPacket pop(Site site, Instant now);
  /// A request of `stream`, or a CM MAD when `stream` is no RC one, was delivered: whoever waits for it looks
  /// again.
  void wake(int stream, Instant now);

  bool empty() const { return queued_ == 0; }
  bool any_ready() const { return !ready_[0].empty() || !ready_[1].empty(); }
  uint64_t queued_bytes() const { return queued_bytes_; }
  /// Smallest shift of the hosts that have packets still to be read.
  Duration min_shift();
  /// Gives up on the cause of the blocked packet that is due first.
  void release_one(Instant now);
  uint64_t released() const { return released_; }
  Duration shift(int host) const { return hosts_[static_cast<size_t>(host)].shift; }
  Site site(int host) const { return hosts_[static_cast<size_t>(host)].site; }

 private:
  struct Host {
    model::GrowingRing<FedPacket> queue;
    Duration shift;
    Instant last_entry{std::numeric_limits<int64_t>::min()};
    uint64_t unread = 0;
    Site site = 0;
    bool blocked = false, released = false;
  };
  using Ready = std::tuple<Instant, uint64_t, int>;  ///< entry, index in the file, host
  using ReadyQueue = std::priority_queue<Ready, std::vector<Ready>, std::greater<>>;

  void evaluate(int host, Instant now);
  void make_ready(int host, Instant entry);
  void block(int host, const Dependency& d);
  std::vector<int>& waiters(int stream) { return waiting_[static_cast<size_t>(stream + 1)]; }

  Causality& causality_;
  Duration origin_;
  std::vector<Host> hosts_;
  std::array<ReadyQueue, 2> ready_;
  std::vector<std::vector<int>> waiting_;  ///< hosts by stream + 1; 0: CM
  uint64_t queued_ = 0, queued_bytes_ = 0, released_ = 0;
  bool shift_changed_ = true;
  Duration min_shift_;
};

}  // namespace matchrdma
