#include "host/sdr/spread.h"

#include <algorithm>
#include <string>

#include "dataplane/base/check.h"
#include "dataplane/base/prng.h"

namespace matchrdma::host {

Result<void> check_spread(const SdrShape& s) {
  if (!s.hadamard) return {};
  if (s.coded())
    return Error{
        "a message is either repaired by a code or transformed: choose the transform with best effort alone"};
  const uint32_t size = element_bytes(*s.hadamard);
  if (s.packet_bytes % size != 0)
    return Error{"packets of " + std::to_string(s.packet_bytes) + " bytes cut elements of " +
                 std::to_string(size) + ": choose a multiple"};
  return {};
}

uint64_t wire_bytes(const SdrShape& s, uint64_t message_bytes) {
  return s.hadamard ? Spread(s, message_bytes).wire_bytes() : message_bytes;
}

uint64_t spread_seed(uint64_t seed, uint32_t epoch, uint64_t message) {
  return Prng(seed ^ (uint64_t{epoch} << 32) ^ message).next();
}

Spread::Spread(const SdrShape& s, uint64_t message_bytes)
    : packet_bytes_(s.packet_bytes),
      whole_(message_bytes / element_bytes(*s.hadamard) * element_bytes(*s.hadamard)),
      tail_(message_bytes - whole_) {
  if (whole_ == 0) return;
  auto made = HadamardTransform::make({*s.hadamard, whole_, s.packet_bytes});
  MRDMA_CHECK(made.ok());  // the shape was checked when the endpoint was made
  transform_.emplace(*made);
  encoded_ = transform_->encoded_bytes();
}

Result<void> Spread::check(Bytes message) const {
  return transform_ ? transform_->check(message.first(whole_)) : Result<void>{};
}

Result<void> Spread::encode(Bytes message, MutableBytes wire, uint64_t seed) const {
  std::copy(message.begin() + static_cast<std::ptrdiff_t>(whole_), message.end(),
            wire.begin() + static_cast<std::ptrdiff_t>(encoded_));
  return transform_ ? transform_->encode(message.first(whole_), wire.first(encoded_), seed) : Result<void>{};
}

void Spread::decode(Bytes wire, const PacketSet& there, uint64_t seed, MutableBytes message) const {
  if (transform_) transform_->decode(wire.first(encoded_), there.words(), seed, message.first(whole_));
  for (uint64_t i = 0; i < tail_; ++i) {
    const uint64_t at = encoded_ + i;
    message[whole_ + i] = there.has(static_cast<uint32_t>(at / packet_bytes_)) ? wire[at] : uint8_t{0};
  }
}

}  // namespace matchrdma::host
