#pragma once
// Packet memory on the heap for everything that is not DPDK: replayer, tests, models, simulator.
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "dataplane/base/packet.h"

namespace matchrdma::model {

/// Bounds and memory layout of a PacketArena.
struct ArenaConfig {
  enum class Mode : uint8_t {
    kAuto,    ///< kExact under AddressSanitizer, else kPooled
    kExact,   ///< every packet is its own allocation of exactly its size: reads past the end are found
    kPooled,  ///< size classes with free lists: no malloc in the steady state
  };
  Mode mode = Mode::kAuto;
  uint64_t max_packets = std::numeric_limits<uint64_t>::max();
  uint64_t max_bytes = std::numeric_limits<uint64_t>::max();  ///< sum of the sizes asked for
};

/// A PacketPool on the heap. Counts what lives, so that a test can prove that nothing leaked.
/// Knows nothing of what the packets mean. Must outlive every PacketRef it gave.
class PacketArena final : public PacketPool {
 public:
  explicit PacketArena(ArenaConfig config = {});
  ~PacketArena() override;
  PacketArena(const PacketArena&) = delete;
  PacketArena& operator=(const PacketArena&) = delete;

  PacketRef alloc(uint32_t size) override;
  void recycle(Packet* p) noexcept override;

  /// A packet holding a copy of `bytes`; empty when the arena is exhausted.
  PacketRef copy(Bytes bytes);

  uint64_t live_packets() const { return live_packets_; }
  uint64_t live_bytes() const { return live_bytes_; }
  uint64_t peak_packets() const { return peak_packets_; }
  uint64_t peak_bytes() const { return peak_bytes_; }
  uint64_t exhausted() const { return exhausted_; }  ///< allocations refused by the bounds

 private:
  // Ethernet frames of the usual path MTUs with room for VLAN tags and IPv6; jumbo last.
  static constexpr std::array<uint32_t, 7> kClasses{128, 256, 640, 1216, 2240, 4352, 9600};

  /// Buffer in front of which the Packet stands; `charged` is the size asked for (Packet::size may be cut
  /// later).
  struct Block {
    Packet packet;
    uint32_t charged = 0;
    uint32_t size_class = 0;
  };
  static_assert(sizeof(Block) % alignof(std::max_align_t) == 0);

  Block* take(uint32_t size);

  ArenaConfig config_;
  std::array<std::vector<Block*>, kClasses.size()> free_;
  uint64_t live_packets_ = 0, live_bytes_ = 0, peak_packets_ = 0, peak_bytes_ = 0, exhausted_ = 0;
};

}  // namespace matchrdma::model
