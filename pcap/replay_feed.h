#pragma once
// Second pass over a capture: hands its packets to the hosts, a little ahead of virtual time.
#include <cstdint>
#include <optional>
#include <vector>

#include "model/packet_arena.h"
#include "pcap/capture_reader.h"
#include "pcap/replay_hosts.h"

namespace matchrdma {

/// Duty: reads as far ahead as the host that is shifted least may need, and never more than a window of bytes.
class ReplayFeed {
 public:
  ReplayFeed(CaptureReader reader, const TraceFlows& flows, Causality& causality, ReplayHosts& hosts,
             model::PacketArena& pool);
  /// Before this virtual time no packet that is still unread can enter.
  Instant horizon();
  /// Reads everything that may enter up to `until`.
  void fill(Instant until, Instant now);
  /// Reads one packet, whatever the window says.
  void read_one(Instant now);
  bool done() const { return reader_.status() != ReadStatus::kPacket; }
  uint64_t packets_read() const { return read_; }
  /// Pauses of the recording that were cut to kLongestPause, and packets whose time goes back.
  uint64_t shortened() const { return shortened_; }
  uint64_t backwards() const { return backwards_; }
  /// Everything idle has been forgotten by then, and one wrong time stamp must not cost days of timers.
  static constexpr Duration kLongestPause = Duration::seconds(2 * 3600);

 private:
  void advance();
  TraceSites::Place place(const PacketView& v, Bytes packet);

  /// What 100 Gb/s bring in 5 ms, the shift of an answering host at 1000 km.
  static constexpr uint64_t kWindowBytes = 64 << 20;

  CaptureReader reader_;
  const TraceFlows& flows_;
  Causality& causality_;
  ReplayHosts& hosts_;
  model::PacketArena& pool_;
  CapturedPacket next_;
  std::vector<std::optional<TraceSites::Place>> places_;  ///< per stream, once known
  uint64_t read_ = 0, shortened_ = 0, backwards_ = 0;
  Instant last_ = Instant::never();  ///< as captured
  Duration skipped_{};
};

}  // namespace matchrdma
