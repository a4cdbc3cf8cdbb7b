#pragma once
// A second look into the receive ring of a packet socket (packet(7), TPACKET_V2). No DPDK.
#include <cstdint>
#include <optional>
#include <span>

namespace matchrdma::io {

/// What the kernel notes beside a received frame and net_af_packet does not pass on.
struct RingNote {
  uint16_t outer_tpid = 0;  ///< EtherType of the VLAN tag that the kernel took out of the frame; 0: none
  bool cut_off = false;     ///< the frame was longer than the ring's frames
};

/// Duty: reads the notes of the frames that the driver is about to take from its ring. The driver takes frames
/// in the order of the ring, one slot each, so counting what it returned says where it stands. Without this, a
/// service tag (0x88a8) would come out as 0x8100. Only reads; does not know the driver.
class PacketRing {
 public:
  /// The ring that `packet_socket` has mapped into this process; nothing when it has none.
  static std::optional<PacketRing> find(int packet_socket, uint32_t frame_bytes, uint32_t frames);

  /// Before the driver is asked, and for no more than this returns: the notes of the next frames that are
  /// ready.
  uint32_t look(std::span<RingNote> notes) const;
  /// Afterwards: the driver took `n` frames.
  void took(uint32_t n) { next_ = (next_ + n) % frames_; }

 private:
  PacketRing(const uint8_t* base, uint32_t frame_bytes, uint32_t frames)
      : base_(base), frame_bytes_(frame_bytes), frames_(frames) {}
  const uint8_t* base_;
  uint32_t frame_bytes_, frames_;
  uint32_t next_ = 0;
};

}  // namespace matchrdma::io
