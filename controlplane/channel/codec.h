#pragma once
// Typed messages to bytes and back: type (8 bits), length of the body (16 bits), body.
#include <vector>

#include "dataplane/base/bytes.h"
#include "dataplane/flow/message.h"

namespace matchrdma {

inline constexpr size_t kMessageHeaderBytes = 3;
/// No message is longer, its header included.
inline constexpr size_t kMaxMessageBytes = 512;

/// Bytes written to `out`; 0 when the message breaks a rule of its layout (out of range, more than the field
/// holds) or does not fit. Contents come from hosts' packets, so a message that cannot be sent is no reason to
/// stop.
size_t encode(const Message& m, MutableBytes out);

struct DecodeCounts {
  uint64_t unknown_type = 0;  ///< skipped by length: a younger peer of the same version
  uint64_t malformed = 0;
  bool operator==(const DecodeCounts&) const = default;
};

/// Appends the messages of `payload` in order. Framing is checked over all of it first: false, and nothing
/// appended or counted, when a length points past the end. What is appended is always something encode() could
/// have made.
bool decode(Bytes payload, std::vector<Message>& out, DecodeCounts& n);

}  // namespace matchrdma
