#pragma once
// The span between the two proxies: two fibres, each with a data queue and a control queue above it.
#include <array>
#include <vector>

#include "controlplane/channel/datagram.h"
#include "model/packet_arena.h"
#include "model/span.h"
#include "pcap/replay_options.h"

namespace matchrdma {

/// A packet of hosts, or a datagram of the proxies (its UDP payload; the frame around it only counts bytes).
struct WanItem {
  PacketRef packet{};
  std::vector<uint8_t> datagram{};
};
using WanQueue = model::Span<WanItem>;

/// Duty: the four queues and their faults. Does not know what is inside a packet, but tells which ones it
/// spoiled.
class ReplayWan {
 public:
  ReplayWan(const ReplayOptions& options, model::PacketArena& pool);
  /// Faults begin: handshakes and registration are over; the first packet enters at `first`.
  void start_faults(Instant first);
  /// Sends from `site` to the other; false: the packet will not arrive sound.
  bool send_packet(Site site, PacketRef p, Instant now);
  void send_datagram(Site site, Queue queue, Bytes datagram, Instant now);
  /// Queues that end at `site`.
  WanQueue& data_to(Site site) { return data_[static_cast<size_t>(site)]; }
  const WanQueue& data_to(Site site) const { return data_[static_cast<size_t>(site)]; }
  const WanQueue& control_to(Site site) const { return control_[static_cast<size_t>(site)]; }
  WanQueue& control_to(Site site) { return control_[static_cast<size_t>(site)]; }
  bool data_empty() const { return data_[0].empty() && data_[1].empty(); }
  bool faulty() const { return faulty_; }
  /// Adds what the queues counted; `repaired` and `responses_lost` are the checks' to know.
  void report(SpanReport& r) const;

 private:
  /// Ethernet, IPv4 and UDP around a datagram of the proxies.
  static constexpr uint32_t kDatagramHeaders = 42;
  /// Added to a frame on the wire: preamble, FCS and gap.
  static constexpr uint32_t kFraming = 24;

  const ReplayOptions& options_;
  std::array<WanQueue, 2> data_, control_;
  bool faulty_ = false;
  uint64_t control_lost_ = 0;         ///< datagrams, of both kinds of queues
  uint64_t data_datagrams_lost_ = 0;  ///< of these: in data queues
};

}  // namespace matchrdma
