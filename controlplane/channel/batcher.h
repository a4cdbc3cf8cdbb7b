#pragma once
#include "controlplane/channel/codec.h"
#include "controlplane/channel/datagram.h"

namespace matchrdma {

/// Packs messages of one queue, in order, into payloads of datagrams. Knows nothing of seals.
class Batcher {
 public:
  enum class Added : uint8_t { kAdded, kFull, kUnencodable };

  /// kFull: take the payload first, then add again.
  Added add(const Message& m) {
    std::array<uint8_t, kMaxMessageBytes> one;
    const size_t n = encode(m, one);
    if (n == 0) return Added::kUnencodable;
    if (n > buffer_.size() - used_) return Added::kFull;
    std::memcpy(buffer_.data() + used_, one.data(), n);
    used_ += n;
    return Added::kAdded;
  }
  bool empty() const { return used_ == 0; }
  Bytes payload() const { return Bytes(buffer_).first(used_); }
  void clear() { used_ = 0; }

 private:
  std::array<uint8_t, kMaxPayloadBytes> buffer_;
  size_t used_ = 0;
};

}  // namespace matchrdma
