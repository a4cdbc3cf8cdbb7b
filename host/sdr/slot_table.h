#pragma once
// The receive slots of a connection: which immediate belongs to which message, and whose turn a slot is.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "dataplane/base/time.h"
#include "host/fabric/immediate.h"
#include "host/sdr/packet_set.h"

namespace matchrdma::host {

/// Duty: gives out slots and generations, and books packets. A generation of a slot does not come again before
/// every copy of its packets has died out. Does not know keys, messages or the wire.
class SlotTable {
 public:
  SlotTable(const ImmediateLayout& layout, uint32_t slots) : layout_(layout), slots_(slots) {}

  /// Slots that take() would give.
  size_t free_slots(Instant now, Duration rest) {
    return static_cast<size_t>(
        std::count_if(slots_.begin(), slots_.end(), [&](Slot& s) { return usable(s, now, rest); }));
  }
  /// A slot for so many packets; nothing when all are in use or resting. `rest`: how long a generation must not
  /// come again after its slot was given back (HOST.md: max(2 RTT, 1 s)).
  std::optional<PacketTag> take(uint32_t packets, uint32_t chunk_packets, uint64_t owner, Instant now,
                                Duration rest) {
    for (uint32_t s = 0; s < slots_.size(); ++s) {
      Slot& slot = slots_[s];
      if (!usable(slot, now, rest)) continue;
      slot.used = true;
      slot.generation = (slot.generation + 1) % layout_.generations();
      slot.owner = owner;
      slot.packets = PacketSet(packets, chunk_packets);
      return PacketTag{s, 0, slot.generation};
    }
    return {};
  }
  void give_back(uint32_t slot, Instant now) {
    slots_[slot].resting.push_back(now);
    slots_[slot].used = false;
    slots_[slot].packets = {};
  }

  enum class Booked : uint8_t { kNew, kAgain, kStale };
  struct Found {
    Booked what;
    uint64_t owner = 0;
    uint32_t slot = 0, index = 0;
  };
  /// One packet that the NIC says it has written.
  Found book(uint32_t immediate) {
    const PacketTag t = layout_.unpack(immediate);
    if (t.slot >= slots_.size()) return {Booked::kStale};
    Slot& s = slots_[t.slot];
    if (!s.used || s.generation != t.generation) return {Booked::kStale};
    return {s.packets.add(t.index) ? Booked::kNew : Booked::kAgain, s.owner, t.slot, t.index};
  }
  const PacketSet& packets(uint32_t slot) const { return slots_[slot].packets; }
  /// A packet that was computed from others.
  void restored(uint32_t slot, uint32_t index) { slots_[slot].packets.add(index); }

 private:
  struct Slot {
    bool used = false;
    uint32_t generation = 0;
    uint64_t owner = 0;
    PacketSet packets;
    std::deque<Instant> resting;  ///< when its last generations were given back
  };

  // Generations come round in order, so the next one is the one that has rested longest.
  bool usable(Slot& slot, Instant now, Duration rest) const {
    while (!slot.resting.empty() && now - slot.resting.front() >= rest) slot.resting.pop_front();
    return !slot.used && slot.resting.size() + 1 < layout_.generations();
  }

  ImmediateLayout layout_;
  std::vector<Slot> slots_;
};

}  // namespace matchrdma::host
