#pragma once
// The head of every SEND of an engine and of every frame of its TCP way.
#include <cstdint>
#include <optional>

#include "dataplane/base/bytes.h"

namespace matchrdma::host {

struct ChannelFrame {
  enum class Kind : uint8_t {
    kOpen = 1,       ///< the first on a queue pair: `remote`, `rkey`: the counters; `length`: receives posted
    kSmall,          ///< a whole message follows
    kWriteRequest,   ///< of a large message
    kWriteResponse,  ///< where it may be written
    kWindow,         ///< a persistent one-way channel: where its memory is
    kPipeData,       ///< TCP: a piece of a message follows
    kPipeTaken,      ///< TCP: every message below `message` was taken by the application
  };
  Kind kind = Kind::kOpen;
  uint32_t epoch = 0;   ///< of the queue pair, or turn of the TCP way
  uint32_t stream = 0;  ///< connection, or window
  uint64_t message = 0, length = 0;
  uint64_t remote = 0;
  uint32_t rkey = 0;
  bool operator==(const ChannelFrame&) const = default;
};
inline constexpr size_t kChannelFrameBytes = 40;

/// `out` has room for kChannelFrameBytes.
void encode_frame(const ChannelFrame& f, MutableBytes out);
/// Nothing: too short or of an unknown kind. What follows is not looked at.
std::optional<ChannelFrame> decode_frame(Bytes bytes);

}  // namespace matchrdma::host
