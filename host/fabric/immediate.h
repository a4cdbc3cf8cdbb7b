#pragma once
// What the 32 bits of immediate data of a packet say: slot | packet index | generation (HOST.md, sdr).
#include <bit>
#include <cstdint>
#include <string>

#include "dataplane/base/result.h"

namespace matchrdma::host {

struct PacketTag {
  uint32_t slot = 0;        ///< of the receiver
  uint32_t index = 0;       ///< of the packet in its slot
  uint32_t generation = 0;  ///< of the slot's use, modulo what the layout holds
  bool operator==(const PacketTag&) const = default;
};

/// How the bits are shared out; both ends agree on it in HELLO.
struct ImmediateLayout {
  uint8_t slot_bits = 6, index_bits = 20, generation_bits = 6;
  static constexpr uint8_t kLeastGenerationBits = 4;

  /// The layout with the most generation bits for this many slots of at most this many packets, or a sentence.
  static Result<ImmediateLayout> of(uint32_t slots, uint64_t packets) {
    const auto bits = [](uint64_t n) { return static_cast<uint8_t>(n <= 2 ? 1 : std::bit_width(n - 1)); };
    const int left = 32 - bits(slots) - bits(packets);
    if (left < kLeastGenerationBits)
      return Error{
          std::to_string(slots) + " receive slots of " + std::to_string(packets) +
          " packets do not fit into 32 bits of immediate data beside 4 bits of generation: send shorter "
          "messages, larger packets, or use more queue pairs"};
    return ImmediateLayout{bits(slots), bits(packets), static_cast<uint8_t>(left)};
  }

  uint32_t generations() const { return 1u << generation_bits; }
  uint32_t last_index() const { return (1u << index_bits) - 1; }
  uint32_t pack(const PacketTag& t) const {
    return (t.slot << (32 - slot_bits)) | (t.index << generation_bits) | (t.generation & (generations() - 1));
  }
  PacketTag unpack(uint32_t immediate) const {
    return {immediate >> (32 - slot_bits), (immediate >> generation_bits) & last_index(),
            immediate & (generations() - 1)};
  }
  bool operator==(const ImmediateLayout&) const = default;
};

}  // namespace matchrdma::host
