#pragma once
// Randomised Hadamard transform: a lost packet costs every number a little instead of some numbers everything
// (HOST.md sdr, H18).
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "dataplane/base/bytes.h"
#include "dataplane/base/result.h"

namespace matchrdma::host {

enum class ElementType : uint8_t { kF32, kBf16, kF16 };
constexpr uint32_t element_bytes(ElementType t) { return t == ElementType::kF32 ? 4 : 2; }

struct HadamardShape {
  ElementType type = ElementType::kF32;
  uint64_t message_bytes = 0;
  uint32_t packet_bytes = 4096;
  uint32_t max_block_bits = 8;  ///< blocks of at most 2^this elements, 10 at most
};

/// Duty: transforms messages of one shape. Blocks of 2^n elements get random signs and are transformed each by
/// itself, in f32. In what is sent the blocks are interleaved so that a packet holds at most one element of a
/// block. The receiver takes lost elements for zeros and scales each block by 2^n / received: over the random
/// signs its estimate has no bias, whatever was lost.
///
/// n is the largest for which the message has 2^n full packets, up to max_block_bits: a message of fewer than
/// two packets is not spread at all. The last block is filled up with zeros, so a little more is sent than the
/// message has. Does not know who lost the packets, nor where the seed comes from.
class HadamardTransform {
 public:
  static constexpr uint32_t kMaxBlockBits = 10;

  static Result<HadamardTransform> make(const HadamardShape& shape);

  uint32_t block_elements() const { return block_; }
  uint64_t encoded_bytes() const { return blocks_ * block_ * element_bytes(shape_.type); }
  uint64_t packets() const { return (encoded_bytes() + shape_.packet_bytes - 1) / shape_.packet_bytes; }
  /// Where element `i` of block `b` stands among the elements that are sent.
  uint64_t sent_as(uint64_t b, uint32_t i) const;

  /// Refuses NaN, infinity, and blocks of numbers so large that their transform may not fit in the type with
  /// some seed; what passes here encode() takes with any.
  Result<void> check(Bytes message) const;
  /// Refuses NaN, infinity, and numbers so large that their transform does not fit in the type. Then `sent`
  /// holds nothing that may be sent.
  Result<void> encode(Bytes message, MutableBytes sent, uint64_t seed) const;

  /// Bit p % 64 of received[p / 64] says whether packet p came; bytes of packets that did not are not read.
  /// What an estimate has beyond the largest number of the type is cut off. Returns how many blocks got nothing
  /// at all: these are zeros.
  uint64_t decode(Bytes sent, std::span<const uint64_t> received, uint64_t seed, MutableBytes message) const;

 private:
  HadamardTransform(const HadamardShape& shape, uint32_t block_bits);
  template <class Codec>
  Result<void> check_as(Bytes message) const;
  /// An error that names the elements of a block.
  Error refusal(uint64_t block, const std::string& before, const std::string& after) const;
  template <class Codec>
  Result<void> encode_as(Bytes message, MutableBytes sent, uint64_t seed) const;
  template <class Codec>
  uint64_t decode_as(Bytes sent, std::span<const uint64_t> received, uint64_t seed, MutableBytes message) const;
  /// Blocks that are interleaved with each other: `first`, and how many.
  struct Batch {
    uint64_t first, blocks;
  };
  Batch batch_of(uint64_t block) const;

  HadamardShape shape_;
  uint32_t block_;            ///< elements of a block
  uint64_t elements_;         ///< of the message
  uint64_t blocks_;           ///< in all
  uint64_t packet_elements_;  ///< so many blocks are interleaved, the last batch up to twice as many
};

}  // namespace matchrdma::host
