#pragma once
// Second pass over a capture: hands its packets to the hosts, a little ahead of virtual time.
#include <cstdint>
#include <optional>
#include <vector>

#include "model/packet_arena.h"
#include "pcap/capture_clock.h"
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
  const CaptureClock& clock() const { return clock_; }

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
  uint64_t read_ = 0;
  CaptureClock clock_;
};

}  // namespace matchrdma
