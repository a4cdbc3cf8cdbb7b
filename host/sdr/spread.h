#pragma once
// Messages of numbers under the randomised Hadamard transform: what goes over the wire in their place.
#include "host/code/hadamard.h"
#include "host/sdr/options.h"
#include "host/sdr/packet_set.h"

namespace matchrdma::host {

/// Whether the shape allows the transform, and what to choose if not.
Result<void> check_spread(const SdrShape& shape);
/// Bytes that are sent of a message of so many: with the transform a little more. Grows with the message.
uint64_t wire_bytes(const SdrShape& shape, uint64_t message_bytes);
/// Of the signs of a message. `seed`: the receiver's.
uint64_t spread_seed(uint64_t seed, uint32_t epoch, uint64_t message);

/// Duty: one message of a connection that transforms. Bytes behind the last whole element are not transformed;
/// they follow as they are. Does not know who draws the seed, nor what it means that packets are missing.
class Spread {
 public:
  Spread(const SdrShape& shape, uint64_t message_bytes);
  uint64_t wire_bytes() const { return encoded_ + tail_; }
  /// NaN, infinity, or numbers so large that the transform may not fit in their type, whatever the seed.
  Result<void> check(Bytes message) const;
  Result<void> encode(Bytes message, MutableBytes wire, uint64_t seed) const;
  /// What did not come is estimated; bytes of the tail that did not are zero.
  void decode(Bytes wire, const PacketSet& there, uint64_t seed, MutableBytes message) const;

 private:
  uint32_t packet_bytes_;
  uint64_t whole_, tail_;  ///< bytes of whole elements, and behind them
  uint64_t encoded_ = 0;
  std::optional<HadamardTransform> transform_;  ///< where there is a whole element
};

}  // namespace matchrdma::host
