#include "dataplane/io/packet_ring.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/stat.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>

namespace matchrdma::io {
namespace {

/// Where this process has mapped the socket: /proc/self/maps names it by its inode.
const uint8_t* mapped_at(int socket, uint64_t least_bytes) {
  struct stat s {};
  if (fstat(socket, &s) != 0) return nullptr;
  const std::string name = "socket:[" + std::to_string(s.st_ino) + "]";
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with(name)) continue;
    const size_t dash = line.find('-');
    const uint64_t from = std::stoull(line, nullptr, 16), to = std::stoull(line.substr(dash + 1), nullptr, 16);
    // The kernel shows an address as a number; there is no other way to it.
    if (to - from >= least_bytes) return reinterpret_cast<const uint8_t*>(from);
  }
  return nullptr;
}

}  // namespace

std::optional<PacketRing> PacketRing::find(int packet_socket, uint32_t frame_bytes, uint32_t frames) {
  const uint8_t* base = mapped_at(packet_socket, uint64_t{frame_bytes} * frames);
  if (base == nullptr) return std::nullopt;
  return PacketRing(base, frame_bytes, frames);
}

uint32_t PacketRing::look(std::span<RingNote> notes) const {
  uint32_t n = 0;
  for (uint32_t at = next_; n < notes.size(); ++n, at = at + 1 == frames_ ? 0 : at + 1) {
    const uint8_t* slot = base_ + size_t{at} * frame_bytes_;
    // The kernel writes this word last.
    const uint32_t status =
        *reinterpret_cast<const volatile uint32_t*>(slot + offsetof(tpacket2_hdr, tp_status));
    std::atomic_thread_fence(std::memory_order_acquire);
    if ((status & TP_STATUS_USER) == 0) break;
    tpacket2_hdr header{};
    std::memcpy(&header, slot, sizeof header);
    RingNote& note = notes[n];
    note.outer_tpid = 0;
    if ((status & TP_STATUS_VLAN_VALID) != 0)
      note.outer_tpid = (status & TP_STATUS_VLAN_TPID_VALID) != 0 ? header.tp_vlan_tpid : uint16_t{ETH_P_8021Q};
    note.cut_off = header.tp_snaplen < header.tp_len;
  }
  return n;
}

}  // namespace matchrdma::io
